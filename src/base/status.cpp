#include "stria/status.hpp"

#include <cerrno>
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

}  // namespace

Status Status::from_errno(int error_number, const std::string& what) {
  const bool is_known = 0 < error_number && error_number < static_cast<int>(ErrorReason::kMoveIsOver);
  return Status(code_of_errno(error_number), what + ": " + std::generic_category().message(error_number),
                is_known ? ErrorReason{error_number} : ErrorReason::kNone);
}

Status Status::with_context(const std::string& context) const {
  return with_message(context + ": " + message_);
}

Status Status::with_message(std::string message) const {
  return ok() ? *this : Status(code_, std::move(message), reason_);
}

void Status::throw_if_error() const {
  if (!ok()) {
    throw Error(code_, message_, reason_);
  }
}

}  // namespace stria
