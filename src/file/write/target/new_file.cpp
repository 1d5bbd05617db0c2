#include "file/write/target/new_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "access/plan/planner.hpp"
#include "file/background/background.hpp"
#include "file/background/partial_file.hpp"
#include "file/parts/part_servers.hpp"
#include "storage/path.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// A file in parts is not staged, because its parts lie beside it.
std::string written_path(const access::ResolvedHints& hints, const std::string& path) {
  return hints.staging_place.empty() || hints.subfile_count != 0 || hints.parity_count != 0
             ? path
             : staged_path(hints.staging_place, path);
}

// The file that names parts with parity lies on one server, as they do.
Result<storage::Striping> striping_of_file(const access::ResolvedHints& hints, const std::string& path) {
  const storage::Striping striping = access::striping_of(hints);
  if (!lies_on_single_servers(hints, path)) {
    return striping;
  }
  STRIA_ASSIGN_OR_RETURN(PartServers servers, PartServers::find(path, striping.first_server));
  return on_server(servers.next(), striping);
}

// A full, broken, read-only or missing device, or one in which another user keeps this one out.
bool is_trouble_of_place(const Status& status) {
  constexpr ErrorCode kTroubles[] = {ErrorCode::kNoSpace, ErrorCode::kIo, ErrorCode::kReadOnly, ErrorCode::kNotFound,
                                     ErrorCode::kPermissionDenied};
  return std::find(std::begin(kTroubles), std::end(kTroubles), status.code()) != std::end(kTroubles);
}

// Whether so many bytes are free now at a place that can't reserve, as far as the system
// tells.
bool may_have_room(const std::string& place, int64_t bytes) {
  std::error_code unknown;
  const auto space = std::filesystem::space(place, unknown);
  return storage::is_remote_path(place) || unknown || space.available >= static_cast<uintmax_t>(bytes);
}

}  // namespace

NewFile::NewFile(const Environment& environment, const std::string& path, const FileIdentity& of_rank_0, PhaseTimes& times,
                 bool grows)
    : environment_(environment), of_rank_0_(of_rank_0), times_(times), grows_(grows) {
  note_path(path);
}

void NewFile::note_path(const std::string& path) {
  path_ = path;
  written_path_ = grows_ ? path : written_path(environment_.hints, path);
  partial_path_ = grows_ ? path : partial_path(written_path_);
  own_partial_path_ = partial_path(path);
}

// A newer file of this name may still be staged: what is added to an older one would make that the
// newer of the two.
Status NewFile::bring_staged(const std::string& given_path) {
  const std::string& place = environment_.hints.staging_place;
  if (place.empty()) {
    return Status();
  }
  Status trouble;
  drain_place(environment_.driver, place, trouble);
  STRIA_ASSIGN_OR_RETURN(const Nearest nearest, find_nearest(*environment_.driver, place, path_));
  return nearest.is_staged ? Status(trouble.ok() ? ErrorCode::kIo : trouble.code(),
                                    fmt::format("'{}' is staged as '{}', which must come to its own place first{}{}",
                                                given_path, nearest.path, trouble.ok() ? "" : ": ", trouble.message()))
                           : Status();
}

Status NewFile::open_old(const std::string& given_path) {
  note_path(environment_.driver->follow_links(path_));
  Background::instance().wait_for_name(path_);  // no time of a phase: it is counted by itself
  PhaseTimer timer(times_, Phase::kOpen);
  STRIA_RETURN_IF_ERROR(bring_staged(given_path));
  auto growing = std::make_unique<GrowingFile>(environment_.driver, path_);
  growing_ = growing.get();
  target_ = std::move(growing);
  return growing_->open(given_path);
}

Status NewFile::create(const std::string& given_path) {
  if (given_path.empty() || given_path.back() == '/') {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a file name", given_path));
  }
  Background::instance().wait_for_name(environment_.driver->follow_links(path_));
  PhaseTimer timer(times_, Phase::kOpen);
  auto partial = std::make_unique<PartialFile>(environment_.driver, path_);
  STRIA_RETURN_IF_ERROR(partial->find());
  note_path(partial->path());
  if (written_path_ != path_) {
    STRIA_RETURN_IF_ERROR(reserve_own_place(std::move(partial)));
    partial = std::make_unique<PartialFile>(environment_.driver, written_path_);
  }
  STRIA_ASSIGN_OR_RETURN(const storage::Striping striping, striping_of_file(environment_.hints, path_));
  const Status created = partial->create(
      {.striping = striping, .is_staged = drain_ != nullptr, .sole_writer = environment_.comm->node_size() == 1});
  target_ = std::move(partial);
  if (drain_ == nullptr || !is_trouble_of_place(created)) {
    return created;
  }
  write_to_own_place(created);
  return Status();
}

// The other ranks hear of it when they agree on the place (placing.hpp).
void NewFile::write_to_own_place(const Status& why) {
  place_trouble_ = why;
  target_->discard();
  target_ = drain_->take_own();
  drain_.reset();
  leave_staging_place();
}

void NewFile::note_place(bool is_staged) noexcept {
  is_place_known_ = true;
  if (!is_staged && target_ == nullptr) {  // rank 0 has left it already
    leave_staging_place();
  }
}

bool NewFile::has_room(int64_t bytes) {
  if (drain_ != nullptr) {
    const Status reserved = or_out_of_memory([&] { return target_->file()->preallocate(bytes); });
    const bool may_have = reserved.code() == ErrorCode::kUnsupported &&
                          (!environment_.absolute_paths || may_have_room(environment_.hints.staging_place, bytes));
    if (!reserved.ok() && !may_have) {
      write_to_own_place(reserved.code() == ErrorCode::kUnsupported ? Status(ErrorCode::kNoSpace, "it has no room") : reserved);
    }
  }
  return drain_ != nullptr;
}

// The file is staged. What a killed program has left at that place is brought to its own.
Status NewFile::reserve_own_place(std::unique_ptr<PartialFile> own) {
  drain_place(environment_.driver, environment_.hints.staging_place, drain_trouble_);
  STRIA_RETURN_IF_ERROR(own->create({.striping = access::striping_of(environment_.hints)}));
  drain_ = std::make_unique<Drain>(environment_.driver, written_path_, std::move(own));
  return Status();
}

void NewFile::depart() noexcept {
  staged_.reset();
  file_ = nullptr;
  background_->take_handles(
      {environment_.driver, std::move(target_), std::move(opened_), std::move(drain_), std::move(parity_)});
  drop_target();
}

void NewFile::drop_target() noexcept {
  growing_ = nullptr;
  target_.reset();
}

Status NewFile::open(const Use& use) {
  PhaseTimer timer(times_, Phase::kOpen);
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  open.sole_writer = environment_.comm->node_size() == 1;
  if (created() != nullptr) {
    file_ = created();
  } else if (file_ == nullptr && (use.writes || use.has_data)) {
    open.expected_number = of_rank_0_.expected_number();
    open.plain_only = !grows_;
    STRIA_ASSIGN_OR_RETURN(opened_, environment_.driver->open(partial_path_, open));
    open.plain_only = false;
    STRIA_RETURN_IF_ERROR(of_rank_0_.check(*opened_));
    file_ = opened_.get();
  }
  if (background_ != nullptr && file_ != nullptr) {
    staged_ = std::make_unique<StagedFile>(*file_, background_->staging());
  }
  if (parts_ != nullptr && file_ != nullptr && parted_ == nullptr) {
    parted_ = std::make_unique<storage::PartedFile>(*file_, environment_.driver, parts_, open.mode);
    if (parts_->part_count() >= environment_.comm->size()) {
      parted_->expect_no_other_writers();
    }
  }
  return use.direct && use.writes && direct() == nullptr ? open_direct(open) : Status();
}

// Where that isn't offered, the cached handle is used.
Status NewFile::open_direct(storage::OpenOptions open) {
  open.direct = true;
  direct_driver_ = environment_.make_direct_driver ? environment_.make_direct_driver() : environment_.driver;
  if (parts_ != nullptr) {
    direct_parted_ = std::make_unique<storage::PartedFile>(*file_, environment_.driver, parts_, open.mode);
    direct_parted_->write_past_cache(direct_driver_);
    return Status();
  }
  auto direct = direct_driver_->open_again(*file_, open);
  if (direct.ok()) {
    direct_file_ = std::move(*direct);
  }
  return Status();
}

Status NewFile::close_parts(bool sync) {
  Status status;
  for (storage::PartedFile* const file : {direct_parted_.get(), parted_.get()}) {
    status.update(file == nullptr ? Status() : file->close_parts(sync));
  }
  return status;
}

Status NewFile::reserve_space(int64_t end) {
  if (grows_ || parts_ != nullptr) {
    return Status();  // it would fill the holes of what is there; the parts have the data
  }
  PhaseTimer timer(times_, Phase::kOpen);
  const Status status = created()->preallocate(end);
  return status.code() == ErrorCode::kUnsupported ? Status() : status;
}

Status NewFile::sync() {
  if (file_ == nullptr) {
    storage::OpenOptions open;
    open.mode = storage::OpenOptions::Mode::kReadWrite;
    open.expected_number = of_rank_0_.expected_number();
    STRIA_ASSIGN_OR_RETURN(opened_, environment_.driver->open(partial_path_, open));
    file_ = opened_.get();
  }
  return background_ != nullptr ? Status() : file_->sync();
}

Status NewFile::close_handles() {
  PhaseTimer timer(times_, Phase::kCommit);
  Status status;
  direct_parted_.reset();
  parted_.reset();
  if (direct_file_ != nullptr) {
    status.update(direct_file_->close());
  }
  if (background_ != nullptr) {
    return status;
  }
  if (opened_ != nullptr) {
    status.update(opened_->close());
  }
  file_ = nullptr;
  return status;
}

Status NewFile::write(const container::SparseImage& image) {
  PhaseTimer timer(times_, Phase::kMetadata);
  std::vector<storage::WriteSegment> segments;
  for (const auto& extent : image.extents) {
    segments.push_back({extent.offset, extent.bytes.data(), static_cast<int64_t>(extent.bytes.size())});
  }
  STRIA_RETURN_IF_ERROR((staged_ != nullptr ? *staged_ : *created()).write(segments));
  return growing_ != nullptr ? growing_->note_switch_over(image.switch_over) : Status();
}

Status NewFile::publish(int64_t file_bytes, bool sync) {
  if (background_ != nullptr) {
    background_->set_end(file_bytes);
    return Status();
  }
  if (parts_ != nullptr && sync) {  // no name of the file may last without those of its parts
    STRIA_RETURN_IF_ERROR(environment_.driver->sync_directory(path_));
  }
  Status status = target_->publish(file_bytes, sync, times_);
  published_ = drain_ == nullptr && target_->is_published();
  if (status.ok() && drain_ != nullptr) {
    PhaseTimer timer(times_, Phase::kCommit);
    status = drain_->run(sync).with_context(fmt::format("the whole file is '{}'", drain_->staged_path()));
    published_ = drain_->is_over();
  }
  return status;
}

void NewFile::release() {
  direct_file_.reset();
  if (background_ == nullptr) {
    opened_.reset();
  }
  if (published_) {
    drop_target();
    drain_.reset();
  }
}

void NewFile::discard() noexcept {
  staged_.reset();
  direct_parted_.reset();
  parted_.reset();
  direct_file_.reset();
  opened_.reset();
  file_ = nullptr;
  if (target_ != nullptr) {
    target_->discard();
    drop_target();
  }
  if (drain_ != nullptr) {
    drain_->discard();
    drain_.reset();
  }
}

}  // namespace stria::file
