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

Status GrowingFile::end_at(int64_t old_end) {
  STRIA_ASSIGN_OR_RETURN(const int64_t size_bytes, file_->size());
  if (size_bytes > old_end) {
    STRIA_RETURN_IF_ERROR(file_->resize(old_end));
  }
  old_end_ = old_end;
  return Status();
}

Status GrowingFile::note_switch_over(const std::vector<std::byte>& bytes) {
  switch_over_ = bytes;
  old_begin_.resize(bytes.size());
  const storage::ReadSegment begin{0, old_begin_.data(), static_cast<int64_t>(old_begin_.size())};
  return old_begin_.empty() ? Status() : file_->read(std::span(&begin, 1)).status();
}

Status GrowingFile::publish(int64_t file_bytes, bool sync, PhaseTimes& times) {
  STRIA_RETURN_IF_ERROR(complete(*driver_, *file_, path_, file_bytes, sync, times));
  PhaseTimer timer(times, Phase::kCommit);
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
  if (file_ != nullptr && old_end_ >= 0 && !published_) {
    static_cast<void>(or_out_of_memory([&] { return end_at(old_end_); }));
  }
  lock_.reset();
  file_.reset();
}

}  // namespace stria::file
