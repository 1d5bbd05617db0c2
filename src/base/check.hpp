// Contracts that the code checks while it runs.
//
// Problem: a comment that states a precondition binds nobody. A caller that breaks it writes wrong
// bytes, or fails far away.
// Method: two macros. A check that fails prints one line on the error output, which names the
// place, the rank, the condition and the values, and aborts the process. An MPI launcher then ends
// the job. Both are for mistakes of Stria's own code. Input, storage and other programs fail by
// Status.
// Cost: STRIA_CHECK is in every build, and stands where one comparison guards the bytes of a file
// or of memory. STRIA_ASSERT is only in builds without NDEBUG, or with STRIA_CHECKED (an option of
// CMake), and may cost more: its condition isn't evaluated otherwise.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "stria/status.hpp"

namespace stria::check {

/// The text of one value of a failed check.
class Value {
 public:
  template <std::integral T>
  Value(T value) : text_(std::to_string(value)) {}  // NOLINT: implicit, for lists of values
  template <typename T>
  requires std::is_enum_v<T> Value(T value) : Value(static_cast<std::underlying_type_t<T>>(value)) {}  // NOLINT: the same
  Value(double value) : text_(std::to_string(value)) {}                                                // NOLINT: the same
  Value(std::string_view value) : text_(value) {}                                                      // NOLINT: the same
  Value(const std::string& value) : text_(value) {}                                                    // NOLINT: the same
  Value(const char* value) : text_(value) {}                                                           // NOLINT: the same
  Value(const Status& value) : text_(value.ok() ? "ok" : value.message()) {}                           // NOLINT: the same

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Holds what a check knows of itself before the program runs.
struct Place {
  const char* file;
  int line;
  const char* macro;
  const char* condition;
  const char* names;  ///< the names of the values, as the source has them; may be empty
};

/// Prints "FILE:LINE: rank R: STRIA_CHECK(CONDITION) failed: NAMES = VALUES", and aborts.
[[noreturn]] void fail(const Place& place, std::initializer_list<Value> values) noexcept;

/// Notes the number of this process among those of MPI. Checks that fail name it from now on.
void note_rank_of_process(int rank);
/// Notes the rank that this thread is now, where one process has several; -1 when it is none.
void note_rank_of_thread(int rank);

}  // namespace stria::check

/// Aborts unless the condition holds. What follows it are values for the message: numbers, enums,
/// texts, statuses.
#define STRIA_CHECK(condition, ...) STRIA_CHECK_IMPL_("STRIA_CHECK", condition __VA_OPT__(, ) __VA_ARGS__)

/// Does so in builds that check contracts, and nothing in others.
#if defined(NDEBUG) && !defined(STRIA_CHECKED)
#define STRIA_ASSERT(condition, ...) static_cast<void>(true || (condition))
#else
#define STRIA_ASSERT(condition, ...) STRIA_CHECK_IMPL_("STRIA_ASSERT", condition __VA_OPT__(, ) __VA_ARGS__)
#endif

#define STRIA_CHECK_IMPL_(macro, condition, ...)                                                  \
  do {                                                                                            \
    if (!(condition)) [[unlikely]] {                                                              \
      ::stria::check::fail({__FILE__, __LINE__, macro, #condition, #__VA_ARGS__}, {__VA_ARGS__}); \
    }                                                                                             \
  } while (false)
