#include "server/objects/disk_health.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

namespace stria::server {

bool DiskHealth::note(const Status& outcome, Clock::time_point now) {
  Mark* mark = outcome.code() == ErrorCode::kIo         ? &failed_
               : outcome.code() == ErrorCode::kReadOnly ? &read_only_
               : outcome.code() == ErrorCode::kNoSpace  ? &full_
                                                        : nullptr;
  // A client that writes at the end of the world fills no disk.
  const bool is_too_large = outcome.reason() == ErrorReason{EFBIG};
  if (mark == nullptr || is_too_large) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  *mark = {outcome.message(), now};
  errors_ += mark == &full_ ? 0 : 1;
  return mark != &full_;
}

DiskHealth::Judgement DiskHealth::look(const std::string& directory, Clock::time_point now) {
  using wire::Condition;
  struct statvfs disk = {};
  const int error_number = statvfs(directory.c_str(), &disk) == 0 ? 0 : errno;
  const std::lock_guard lock(mutex_);
  if (error_number != 0) {
    return {Condition::kFailing, Status::from_errno(error_number, "look at '" + directory + "'").message()};
  }
  if ((disk.f_flag & ST_RDONLY) != 0) {
    return {Condition::kReadOnly, "the file system of '" + directory + "' is read-only"};
  }
  if (failed_.holds(now, kErrorCountsFor)) {
    return {Condition::kFailing, failed_.why};
  }
  // A file system that may be written again has been mended.
  if (read_only_.holds(now, kFullCountsFor)) {
    return {Condition::kReadOnly, read_only_.why};
  }
  const auto unit = static_cast<int64_t>(disk.f_frsize);
  const int64_t total_bytes = static_cast<int64_t>(disk.f_blocks) * unit;
  const int64_t free_bytes = static_cast<int64_t>(disk.f_bavail) * unit;
  const int64_t reserve_bytes = reserve_bytes_ >= 0 ? reserve_bytes_ : std::min(total_bytes / kReservePart, kMostReserveBytes);
  if (free_bytes < reserve_bytes) {
    return {Condition::kNearlyFull,
            fmt::format("{} bytes are free, and {} are its reserve (--reserve)", free_bytes, reserve_bytes)};
  }
  // A quota, or a lack of inodes.
  if (full_.holds(now, kFullCountsFor)) {
    return {Condition::kNearlyFull, full_.why};
  }
  return {};
}

}  // namespace stria::server
