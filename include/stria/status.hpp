// Outcomes: below the public API every call that can fail returns a Status or a Result. Only the
// API itself throws.
#pragma once

#include <cassert>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace stria {

/// Says what kind of error occurred. Every binding has one counterpart for each.
enum class ErrorCode : int {
  kOk = 0,
  kInvalidArgument,    ///< the caller's input can't be used; the message says which and why
  kNotFound,           ///< no such file or dataset
  kAlreadyExists,      ///< the name is taken
  kPermissionDenied,   ///< the file system refused
  kReadOnly,           ///< a read-only file, directory or file system
  kNoSpace,            ///< the device is full, or a quota is used up
  kIo,                 ///< the storage failed to read or write
  kFormat,             ///< the bytes are not the format that they should be
  kCorrupted,          ///< a checksum does not match
  kUnsupported,        ///< valid, but not something this build or storage can do
  kResourceExhausted,  ///< out of memory or of another limited resource
  kAborted,            ///< given up because another rank failed
  kInternal,           ///< a broken invariant of the library
};

/// Returns the stable lower-case name of a code, e.g. "no_space".
const char* error_code_name(ErrorCode code);

/// The exception that the public C++ API throws. `code()` tells the kind; `what()` tells what
/// happened, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// Tells success, or an error code with a message. Cheap when it is success.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message) : code_(code), message_(std::move(message)) {}

  /// Makes a status from an errno value: picks the code and appends the system's own
  /// words to `what`.
  static Status from_errno(int error_number, const std::string& what);

  bool ok() const { return code_ == ErrorCode::kOk; }
  ErrorCode code() const { return code_; }
  const std::string& message() const { return message_; }

  /// Does the same error with `context` and a colon in front of its message; success stays success.
  Status with_context(const std::string& context) const;

  /// Becomes `later` unless this is an error already: the first error stays.
  void update(Status later) {
    if (ok()) {
      *this = std::move(later);
    }
  }

  /// Throws stria::Error unless this is success.
  void throw_if_error() const;

 private:
  ErrorCode code_ = ErrorCode::kOk;
  std::string message_;
};

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}                                  // NOLINT: a value is a result
  Result(Status status) : status_(std::move(status)) { assert(!status_.ok()); }  // NOLINT: so is an error

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  /// \pre ok()
  T& operator*() {
    assert(ok());
    return *value_;
  }
  const T& operator*() const {
    assert(ok());
    return *value_;
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

  /// Returns the value; throws stria::Error when there is none.
  T value() && {
    status_.throw_if_error();
    return std::move(*value_);
  }
  const T& value() const& {
    status_.throw_if_error();
    return *value_;
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace stria

/// Returns early from the enclosing function when `expression`, a Status, is an error.
#define STRIA_RETURN_IF_ERROR(expression)                                  \
  do {                                                                     \
    if (::stria::Status stria_status_ = (expression); !stria_status_.ok()) \
      return stria_status_;                                                \
  } while (false)

/// Evaluates a Result; returns early on error, else moves the value into `target` (a declaration
/// or an lvalue).
#define STRIA_ASSIGN_OR_RETURN(target, expression) \
  STRIA_ASSIGN_OR_RETURN_IMPL_(STRIA_CONCAT_(stria_result_, __LINE__), target, expression)
#define STRIA_ASSIGN_OR_RETURN_IMPL_(result, target, expression) \
  auto result = (expression);                                    \
  if (!result.ok())                                              \
    return result.status();                                      \
  target = std::move(*result)
#define STRIA_CONCAT_(a, b) STRIA_CONCAT_INNER_(a, b)
#define STRIA_CONCAT_INNER_(a, b) a##b
