#include "access/context/context.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace stria::access {

void tell_failure(const Context& context) {
  if (context.signal != nullptr) {
    context.signal->tell();
  }
}

Status require_all(const Moved& moved, const Context& context, std::span<const Lane> lanes) {
  int64_t missing_bytes = total_bytes(lanes) - moved.bytes;
  STRIA_ASSERT(moved.bytes >= 0 && missing_bytes >= 0, moved.bytes, missing_bytes);
  if (!moved.status.ok() || missing_bytes == 0) {
    return moved.status;
  }
  return Status(ErrorCode::kCorrupted,
                fmt::format("'{}' ends {} bytes before its data: the file is cut short", context.file->path(), missing_bytes));
}

}  // namespace stria::access
