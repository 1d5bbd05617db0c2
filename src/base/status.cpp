#include "stria/status.hpp"

#include <cerrno>
#include <new>
#include <system_error>

namespace stria {

const char* error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return "ok";
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kAlreadyExists:
      return "already_exists";
    case ErrorCode::kPermissionDenied:
      return "permission_denied";
    case ErrorCode::kReadOnly:
      return "read_only";
    case ErrorCode::kNoSpace:
      return "no_space";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kFormat:
      return "format";
    case ErrorCode::kCorrupted:
      return "corrupted";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kResourceExhausted:
      return "resource_exhausted";
    case ErrorCode::kAborted:
      return "aborted";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "unknown";
}

namespace {

ErrorCode code_of_errno(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
      return ErrorCode::kAlreadyExists;
    case EACCES:
    case EPERM:
      return ErrorCode::kPermissionDenied;
    case EROFS:
      return ErrorCode::kReadOnly;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ErrorCode::kNoSpace;
    case EINVAL:
    case ENAMETOOLONG:
    case EISDIR:
      return ErrorCode::kInvalidArgument;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return ErrorCode::kResourceExhausted;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::kUnsupported;
    default:
      return ErrorCode::kIo;
  }
}

// Those are made when the library is loaded, since later there may be no memory.
const std::string no_words;
const std::string lost_words = "the words of this error found no room in memory";
const std::string lack_of_memory = "out of memory";

}  // namespace

Status::Status(ErrorCode code, std::string message, ErrorReason reason) noexcept : Status(code, reason) {
  try {
    message_ = std::make_shared<const std::string>(std::move(message));
  } catch (const std::bad_alloc&) {
    message_ = nullptr;
  }
}

Status Status::from_errno(int error_number, const std::string& what) noexcept {
  const ErrorCode code = code_of_errno(error_number);
  const bool is_known = 0 < error_number && error_number < static_cast<int>(ErrorReason::kMoveIsOver);
  const ErrorReason reason = is_known ? ErrorReason{error_number} : ErrorReason::kNone;
  try {
    return Status(code, what + ": " + std::generic_category().message(error_number), reason);
  } catch (const std::bad_alloc&) {
    return Status(code, reason);
  }
}

const std::string& Status::message() const noexcept {
  if (message_ != nullptr) {
    return *message_;
  }
  if (ok()) {
    return no_words;
  }
  return code_ == ErrorCode::kResourceExhausted ? lack_of_memory : lost_words;
}

Status Status::with_context(const std::string& context) const noexcept {
  if (ok()) {
    return *this;
  }
  try {
    return with_message(context + ": " + message());
  } catch (const std::bad_alloc&) {
    return *this;
  }
}

Status Status::with_message(std::string message) const noexcept {
  if (ok()) {
    return *this;
  }
  const Status told(code_, std::move(message), reason_);
  return told.message_ == nullptr ? *this : told;
}

void Status::throw_if_error() const {
  if (!ok()) {
    throw Error(code_, message(), reason_);
  }
}

}  // namespace stria
