#include "file/write/new_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "access/plan/planner.hpp"
#include "storage/messages.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

/// What the one program locks that adds to a file. Behind the end of any file, before what
/// storage/posix and access/locks lock.
constexpr ByteRange kGrowingByte{(int64_t{1} << 62) - 3, (int64_t{1} << 62) - 2};

}  // namespace

std::string partial_path(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const size_t name = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name) + "." + path.substr(name) + ".partial";
}

NewFile::NewFile(const Environment& environment, const std::string& path, const FileIdentity& of_rank_0, PhaseTimes& times,
                 bool grows)
    : environment_(environment),
      of_rank_0_(of_rank_0),
      times_(times),
      path_(path),
      partial_path_(grows ? path : partial_path(path)),
      grows_(grows) {}

// A lock of the whole file would keep readers out, too.
Status NewFile::open_old(const std::string& given_path) {
  PhaseTimer timer(times_, Phase::kOpen);
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  open.beside_readers = true;
  STRIA_ASSIGN_OR_RETURN(created_, environment_.driver->open(path_, open));
  auto locked = created_->try_lock(kGrowingByte, storage::LockMode::kExclusive);
  if (locked.ok() && *locked == nullptr) {
    return storage::file_in_use(given_path);
  }
  if (!locked.ok() && locked.status().code() != ErrorCode::kUnsupported) {
    return locked.status();
  }
  lock_ = locked.ok() ? std::move(*locked) : nullptr;
  return Status();
}

Status NewFile::end_at(int64_t old_end) {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, created_->size());
  if (size_bytes > old_end) {
    STRIA_RETURN_IF_ERROR(created_->resize(old_end));
  }
  old_end_ = old_end;
  return Status();
}

Status NewFile::create(const std::string& given_path) {
  PhaseTimer timer(times_, Phase::kOpen);
  if (given_path.empty() || given_path.back() == '/') {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' is not a file name", given_path));
  }
  std::error_code none;
  if (environment_.absolute_paths && std::filesystem::is_directory(path_, none)) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' is a directory", given_path));
  }
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kCreate;
  open.exclusive_lock = true;
  open.striping = access::striping_of(environment_.hints);
  STRIA_ASSIGN_OR_RETURN(created_, environment_.driver->open(partial_path_, open));
  return Status();
}

Status NewFile::open(const Use& use) {
  PhaseTimer timer(times_, Phase::kOpen);
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  if (created_ != nullptr) {
    file_ = created_.get();
  } else if (file_ == nullptr && (use.writes || use.has_data)) {
    open.expected_number = of_rank_0_.expected_number();
    STRIA_ASSIGN_OR_RETURN(opened_, environment_.driver->open(partial_path_, open));
    STRIA_RETURN_IF_ERROR(of_rank_0_.check(*opened_));
    file_ = opened_.get();
  }
  if (use.direct && use.writes && direct_file_ == nullptr) {
    open.direct = true;
    direct_driver_ = environment_.make_direct_driver ? environment_.make_direct_driver() : environment_.driver;
    auto direct = direct_driver_->open_again(*file_, open);
    if (direct.ok()) {  // not offered: the cached handle is used
      direct_file_ = std::move(*direct);
    }
  }
  return Status();
}

Status NewFile::reserve_space(int64_t end) {
  if (grows_) {
    return Status();  // it would fill the holes of what is there
  }
  PhaseTimer timer(times_, Phase::kOpen);
  const Status status = created_->preallocate(end);
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
  return file_->sync();
}

Status NewFile::close_handles() {
  PhaseTimer timer(times_, Phase::kCommit);
  Status status;
  if (direct_file_ != nullptr) {
    status.update(direct_file_->close());
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
  STRIA_RETURN_IF_ERROR(created_->write(segments));
  switch_over_ = image.switch_over;
  old_begin_.resize(switch_over_.size());
  const storage::ReadSegment begin{0, old_begin_.data(), static_cast<int64_t>(old_begin_.size())};
  return old_begin_.empty() ? Status() : created_->read(std::span(&begin, 1)).status();
}

Status NewFile::publish(int64_t file_bytes, bool sync) {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, created_->size());
  if (size_bytes != file_bytes) {
    STRIA_RETURN_IF_ERROR(created_->resize(file_bytes));
  }
  if (sync) {
    PhaseTimer timer(times_, Phase::kSync);
    STRIA_RETURN_IF_ERROR(created_->sync());
  }
  PhaseTimer timer(times_, Phase::kCommit);
  if (!has_partial_name()) {
    return Status(ErrorCode::kIo, fmt::format("'{}' doesn't name the file any more that was written under this name: something "
                                              "has renamed, removed or replaced it",
                                              partial_path_));
  }
  if (grows_) {
    return switch_over(sync);
  }
  STRIA_RETURN_IF_ERROR(environment_.driver->rename(partial_path_, path_));
  published_ = true;
  return settle(sync);
}

// Everything that is added is safe. One write, within a sector, makes it valid.
Status NewFile::switch_over(bool sync) {
  const auto put = [&](const std::vector<std::byte>& bytes) {
    const storage::WriteSegment segment{0, bytes.data(), static_cast<int64_t>(bytes.size())};
    return created_->write(std::span(&segment, 1));
  };
  const Status switched = put(switch_over_);
  if (!switched.ok() && put(old_begin_).ok()) {
    return switched;
  }
  published_ = true;  // or unknown: what was added must stay
  STRIA_RETURN_IF_ERROR(switched);
  STRIA_RETURN_IF_ERROR(sync ? created_->sync() : Status());
  lock_.reset();
  return created_->close();
}

// After the file has its name. A failure now costs no data, unless the power fails too.
Status NewFile::settle(bool sync) {
  const Status closed = created_->close();
  return closed.ok() && sync ? environment_.driver->sync_directory(path_) : closed;
}

void NewFile::release() {
  direct_file_.reset();
  opened_.reset();
  if (published_) {
    lock_.reset();
    created_.reset();
  }
}

void NewFile::discard() noexcept {
  direct_file_.reset();
  opened_.reset();
  file_ = nullptr;
  if (grows_) {
    cut_back();
  } else if (created_ != nullptr) {
    // The outcome of the removal doesn't matter: the caller needs the reason of the failure.
    static_cast<void>(
        or_out_of_memory([&] { return has_partial_name() ? environment_.driver->remove(partial_path_) : Status(); }));
  }
  lock_.reset();
  created_.reset();
}

// Rank 0. Where it fails, the next program that adds to the file clears it.
void NewFile::cut_back() noexcept {
  if (created_ != nullptr && old_end_ >= 0 && !published_) {
    static_cast<void>(or_out_of_memory([&] { return end_at(old_end_); }));
  }
}

// Rank 0: whether the temporary name still means the file that was made under it, as far as the
// storage can tell.
bool NewFile::has_partial_name() const {
  const auto created = created_->identity();
  const auto named = environment_.driver->identity(partial_path_);
  return named.status().code() != ErrorCode::kNotFound && (!created.ok() || !named.ok() || *created == *named);
}

}  // namespace stria::file
