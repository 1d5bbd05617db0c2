#include "file/write/target/new_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "access/plan/planner.hpp"
#include "base/out_of_memory.hpp"
#include "file/background/background.hpp"
#include "file/background/partial_file.hpp"
#include "file/parts/part_servers.hpp"
#include "storage/path.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// The file that names parts with parity lies on one server, as they do.
Result<storage::Striping> striping_of_file(const access::ResolvedHints& hints, const std::string& path) {
  const storage::Striping striping = access::striping_of(hints);
  if (!lies_on_single_servers(hints, path)) {
    return striping;
  }
  STRIA_ASSIGN_OR_RETURN(PartServers servers, PartServers::find(path, striping.first_server));
  return on_server(servers.next(), striping);
}

// Returns true for a full, broken, read-only or missing device, or one in which another user keeps
// this one out.
bool is_trouble_of_place(const Status& status) {
  constexpr ErrorCode kTroubles[] = {ErrorCode::kNoSpace, ErrorCode::kIo, ErrorCode::kReadOnly, ErrorCode::kNotFound,
                                     ErrorCode::kPermissionDenied};
  return std::find(std::begin(kTroubles), std::end(kTroubles), status.code()) != std::end(kTroubles);
}

// Tells whether so many bytes are free now at a place that can't reserve, as far as the system
// tells.
bool may_have_room(const std::string& place, int64_t bytes) {
  std::error_code unknown;
  const auto space = std::filesystem::space(place, unknown);
  return storage::is_remote_path(place) || unknown || space.available >= static_cast<uintmax_t>(bytes);
}

// A newer file of this name may still be staged: what is added to an older one would make that the
// newer of the two.
Status bring_staged(const Environment& environment, const std::string& path, const std::string& given_path) {
  const std::string& place = environment.hints.staging_place;
  if (place.empty()) {
    return Status();
  }
  Status trouble;
  drain_place(environment.driver, place, trouble);
  STRIA_ASSIGN_OR_RETURN(const Nearest nearest, find_nearest(*environment.driver, place, path));
  return nearest.is_staged ? Status(trouble.ok() ? ErrorCode::kIo : trouble.code(),
                                    fmt::format("'{}' is staged as '{}', which must come to its own place first{}{}",
                                                given_path, nearest.path, trouble.ok() ? "" : ": ", trouble.message()),
                                    trouble.reason())
                           : Status();
}

}  // namespace

Status NewFile::open_old(OpenFile& file) {
  const Environment& environment = file.environment;
  place_.follow(environment.driver->follow_links(place_.path()));
  Background::instance().wait_for_name(place_.path());  // It counts its time by itself.
  PhaseTimer timer(file.accounts.times(), Phase::kOpen);
  STRIA_RETURN_IF_ERROR(bring_staged(environment, place_.path(), file.path));
  target_ = std::make_unique<GrowingFile>(environment.driver, place_.path());
  return growing()->open(file.path);
}

Status NewFile::create(OpenFile& file) {
  const Environment& environment = file.environment;
  if (file.path.empty() || file.path.back() == '/') {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a file name", file.path));
  }
  Background::instance().wait_for_name(environment.driver->follow_links(place_.path()));
  PhaseTimer timer(file.accounts.times(), Phase::kOpen);
  auto partial = std::make_unique<PartialFile>(environment.driver, place_.path());
  STRIA_RETURN_IF_ERROR(partial->find());
  place_.follow(partial->path());
  if (place_.is_staged()) {
    STRIA_RETURN_IF_ERROR(reserve_own_place(environment, std::move(partial)));
    partial = std::make_unique<PartialFile>(environment.driver, place_.written_path());
  }
  STRIA_ASSIGN_OR_RETURN(const storage::Striping striping, striping_of_file(environment.hints, place_.path()));
  const access::ResolvedHints& hints = environment.hints;
  const Status created =
      partial->create({.striping = striping,
                       .is_staged = drain_ != nullptr,
                       .sole_writer = environment.comm->node_size() == 1,
                       .beside = {.has_parts = hints.subfile_count != 0, .has_parity = hints.parity_count > 0}});
  target_ = std::move(partial);
  if (drain_ == nullptr || !is_trouble_of_place(created)) {
    return created;
  }
  write_to_own_place(created);
  return Status();
}

// The other ranks hear of it when they agree on the place (placing.hpp).
void NewFile::write_to_own_place(const Status& why) {
  troubles_.of_place = why;
  target_->discard();
  target_ = drain_->take_own();
  drain_.reset();
  place_.write_to_own();
}

bool NewFile::has_room(const OpenFile& file, int64_t bytes) {
  if (drain_ != nullptr) {
    const Status reserved = or_out_of_memory([&] { return target_->file()->preallocate(bytes); });
    const bool may_have = reserved.code() == ErrorCode::kUnsupported &&
                          (!file.environment.absolute_paths || may_have_room(file.environment.hints.staging_place, bytes));
    if (!reserved.ok() && !may_have) {
      write_to_own_place(reserved.code() == ErrorCode::kUnsupported ? Status(ErrorCode::kNoSpace, "it has no room") : reserved);
    }
  }
  return drain_ != nullptr;
}

// The file is staged. What a killed program has left at that place is brought to its own.
Status NewFile::reserve_own_place(const Environment& environment, std::unique_ptr<PartialFile> own) {
  drain_place(environment.driver, environment.hints.staging_place, troubles_.of_drain);
  STRIA_RETURN_IF_ERROR(own->create({.striping = access::striping_of(environment.hints)}));
  drain_ = std::make_unique<Drain>(environment.driver, place_.written_path(), std::move(own));
  return Status();
}

void NewFile::depart(const OpenFile& file) noexcept {
  background_->take_handles(
      {file.environment.driver, std::move(target_), handles_.depart(), std::move(drain_), std::move(parity_)});
  target_.reset();
}

DataHandles::Place NewFile::present(const OpenFile& file) const {
  return {.file = {.environment = file.environment, .path = place_.unpublished_path()},
          .of_rank_0 = file.identity,
          .grows = grows_,
          .created = created(),
          .staging = staging()};
}

Status NewFile::open(OpenFile& file, const Use& use) {
  PhaseTimer timer(file.accounts.times(), Phase::kOpen);
  return handles_.open(use, present(file));
}

Status NewFile::reserve_space(OpenFile& file, int64_t end) {
  if (grows_ || handles_.are_spread()) {
    return Status();  // it would fill the holes of what is there; the parts have the data
  }
  PhaseTimer timer(file.accounts.times(), Phase::kOpen);
  const Status status = created()->preallocate(end);
  return status.code() == ErrorCode::kUnsupported ? Status() : status;
}

Status NewFile::sync(const OpenFile& file) {
  STRIA_ASSIGN_OR_RETURN(storage::File* const own, handles_.own(present(file)));
  return background_ != nullptr ? Status() : own->sync();
}

Status NewFile::close_handles(OpenFile& file) {
  PhaseTimer timer(file.accounts.times(), Phase::kCommit);
  return handles_.close(background_ == nullptr);
}

Status NewFile::write(OpenFile& file, const container::SparseImage& image) {
  PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
  std::vector<storage::WriteSegment> segments;
  for (const auto& extent : image.extents) {
    segments.push_back({extent.offset, extent.bytes.data(), static_cast<int64_t>(extent.bytes.size())});
  }
  STRIA_RETURN_IF_ERROR((handles_.staged() != nullptr ? *handles_.staged() : *created()).write(segments));
  return growing() != nullptr ? growing()->note_switch_over(image.switch_over) : Status();
}

Status NewFile::publish(OpenFile& file, int64_t file_bytes, bool sync) {
  if (background_ != nullptr) {
    background_->set_end(file_bytes);
    return Status();
  }
  if (handles_.are_spread() && sync) {  // no name of the file may last without those of its parts
    STRIA_RETURN_IF_ERROR(file.environment.driver->sync_directory(place_.path()));
  }
  Status status = target_->publish(file_bytes, sync, file.accounts.times());
  published_ = drain_ == nullptr && target_->is_published();
  if (status.ok() && drain_ != nullptr) {
    PhaseTimer timer(file.accounts.times(), Phase::kCommit);
    status = drain_->run(sync).with_context(fmt::format("the whole file is '{}'", drain_->staged_path()));
    published_ = drain_->is_over();
  }
  return status;
}

void NewFile::release() {
  handles_.release(background_ == nullptr);
  if (published_) {
    target_.reset();
    drain_.reset();
  }
}

void NewFile::discard() noexcept {
  handles_.discard();
  if (target_ != nullptr) {
    target_->discard();
    target_.reset();
  }
  if (drain_ != nullptr) {
    drain_->discard();
    drain_.reset();
  }
}

}  // namespace stria::file
