#include "file/write/target/growing_file.hpp"

#include <utility>

#include "base/out_of_memory.hpp"
#include "file/background/partial_file.hpp"
#include "storage/messages.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

/// What the one program locks that adds to a file. Behind the end of any file, before what
/// storage/posix and access/locks lock.
constexpr ByteRange kGrowingByte{(int64_t{1} << 62) - 3, (int64_t{1} << 62) - 2};

/// How much of what lies behind the end is kept in memory until the commit.
constexpr int64_t kKeptBytesMax = 64 << 20;

}  // namespace

GrowingFile::GrowingFile(std::shared_ptr<storage::Driver> driver, std::string path)
    : driver_(std::move(driver)), path_(std::move(path)) {}

// A lock of the whole file would keep readers out, too.
Status GrowingFile::open(const std::string& given_path) {
  storage::OpenOptions open;
  open.mode = storage::OpenOptions::Mode::kReadWrite;
  open.beside_readers = true;
  STRIA_ASSIGN_OR_RETURN(file_, driver_->open(path_, open));
  auto locked = file_->try_lock(kGrowingByte, storage::LockMode::kExclusive);
  if (locked.ok() && *locked == nullptr) {
    return storage::file_in_use(given_path);
  }
  if (!locked.ok() && locked.status().code() != ErrorCode::kUnsupported) {
    return locked.status();
  }
  lock_ = locked.ok() ? std::move(*locked) : nullptr;
  return Status();
}

Status GrowingFile::clear_behind_end() {
  if (is_begun_) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file_->size());
  const int64_t behind_bytes = size_bytes - old_end_;
  if (behind_bytes > 0) {
    behind_end_.resize(static_cast<size_t>(behind_bytes <= kKeptBytesMax ? behind_bytes : 0));
    const storage::ReadSegment behind{old_end_, behind_end_.data(), static_cast<int64_t>(behind_end_.size())};
    STRIA_RETURN_IF_ERROR(behind_end_.empty() ? Status() : file_->read(std::span(&behind, 1)).status());
  }
  is_begun_ = true;
  return behind_bytes > 0 ? file_->resize(old_end_) : Status();
}

Status GrowingFile::restore() {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file_->size());
  STRIA_RETURN_IF_ERROR(size_bytes > old_end_ ? file_->resize(old_end_) : Status());
  const storage::WriteSegment behind{old_end_, behind_end_.data(), static_cast<int64_t>(behind_end_.size())};
  return behind_end_.empty() ? Status() : file_->write(std::span(&behind, 1));
}

Status GrowingFile::note_switch_over(const std::vector<std::byte>& bytes) {
  switch_over_ = bytes;
  old_begin_.resize(bytes.size());
  const storage::ReadSegment begin{0, old_begin_.data(), static_cast<int64_t>(old_begin_.size())};
  return old_begin_.empty() ? Status() : file_->read(std::span(&begin, 1)).status();
}

Status GrowingFile::publish(int64_t file_bytes, bool sync, PhaseTimes& times) {
  STRIA_RETURN_IF_ERROR(complete(*file_, file_bytes, sync, times));
  PhaseTimer timer(times, Phase::kCommit);
  STRIA_RETURN_IF_ERROR(check_name(*driver_, *file_, path_));
  return switch_over(sync);
}

// Everything that is added is safe. One write, within a sector, makes it valid.
Status GrowingFile::switch_over(bool sync) {
  const auto put = [&](const std::vector<std::byte>& bytes) {
    const storage::WriteSegment segment{0, bytes.data(), static_cast<int64_t>(bytes.size())};
    return file_->write(std::span(&segment, 1));
  };
  const Status switched = put(switch_over_);
  if (!switched.ok() && put(old_begin_).ok()) {
    return switched;
  }
  published_ = true;  // or unknown: what was added must stay
  STRIA_RETURN_IF_ERROR(switched);
  STRIA_RETURN_IF_ERROR(sync ? file_->sync() : Status());
  lock_.reset();
  return file_->close();
}

void GrowingFile::discard() noexcept {
  if (file_ != nullptr && is_begun_ && !published_) {
    static_cast<void>(or_out_of_memory([&] { return restore(); }));
  }
  lock_.reset();
  file_.reset();
}

}  // namespace stria::file
