// Outcomes: below the public API every call that can fail returns a Status or a Result. Only the
// API itself throws.
#pragma once

#include <cassert>
#include <memory>
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

/// Tells errors of one code apart where somebody acts on the difference. The values below 4096 are
/// errno values of the system, such as `ErrorReason{EDQUOT}`; the others are Stria's own. Messages
/// carry these numbers (docs/formats/wire.md), so none is ever used for something else.
enum class ErrorReason : int {
  kNone = 0,                ///< the code and the message tell all
  kMoveIsOver = 4096,       ///< the move of a file's part has ended, or was never known here
  kNoManager = 4097,        ///< a server that isn't the store's manager was asked for names
  kReplacedManager = 4098,  ///< another server has taken the place of this manager
  kForeignTicket = 4099,    ///< another manager, or none, has sealed the ticket for the file
  kOverQuota = 4100,        ///< a quota of the store is used up; the disk's own is EDQUOT
};

/// The exception that the public C++ API throws. `code()` tells the kind; `what()` tells what
/// happened, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message, ErrorReason reason = ErrorReason::kNone)
      : std::runtime_error(message), code_(code), reason_(reason) {}
  ErrorCode code() const noexcept { return code_; }
  ErrorReason reason() const noexcept { return reason_; }

 private:
  ErrorCode code_;
  ErrorReason reason_;
};

/// Tells success, or an error code with a message. Cheap when it is success. The message is for
/// people alone: what code has to tell apart is in code() and reason().
///
/// A status is made and passed on where memory has run out, too. Copies share the message and never
/// throw; where a message finds no room, the code stays and message() says what is missing.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(ErrorCode code, std::string message, ErrorReason reason = ErrorReason::kNone) noexcept;
  /// Is an error whose words have found no room in memory.
  Status(ErrorCode code, ErrorReason reason) noexcept : code_(code), reason_(reason) {}
  /// Takes what was thrown.
  explicit Status(const Error& error) : Status(error.code(), error.what(), error.reason()) {}

  /// Makes a status from an errno value, which becomes its reason: picks the code and appends the
  /// system's own words to `what`.
  static Status from_errno(int error_number, const std::string& what) noexcept;

  bool ok() const noexcept { return code_ == ErrorCode::kOk; }
  ErrorCode code() const noexcept { return code_; }
  ErrorReason reason() const noexcept { return reason_; }
  const std::string& message() const noexcept;

  /// Returns the same error with `context` and a colon before its message; success stays success.
  /// Where that finds no room, the message stays.
  Status with_context(const std::string& context) const noexcept;
  /// Returns the same error with another message, or with its own where that finds no room;
  /// success stays success.
  Status with_message(std::string message) const noexcept;

  /// Becomes `later` unless this is an error already: the first error stays.
  void update(Status later) noexcept {
    if (ok()) {
      *this = std::move(later);
    }
  }

  /// Throws stria::Error unless this is success.
  void throw_if_error() const;

 private:
  ErrorCode code_ = ErrorCode::kOk;
  ErrorReason reason_ = ErrorReason::kNone;
  std::shared_ptr<const std::string> message_;  ///< null: success, or no room for the words
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
