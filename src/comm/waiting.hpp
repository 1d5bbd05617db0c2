// Reports waits that last: a rank that never comes, or a link that is cut, gives the
// others no error.
//
// Method: the outermost calls note what they are about, at the cost of a few stores. Loops that
// wait look at the clock between their sleeps. After STRIA_WAIT_WARNING_S seconds (10 unless set;
// 0: never), or as many as the file's hint says, a line goes to standard error; another follows
// after twice as long, and so on. comm/mpi/wait_watch.hpp finds out whom the ranks of a
// communicator wait for.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stria {

class Comm;

/// A loop that waits looks at the clock after each sleep of so long at most.
inline constexpr int kLongestSleepSeconds = 1;

/// Says after how many seconds a wait is reported, and after how many it ends the job; 0: never.
struct WaitLimits {
  static constexpr double kNotGiven = -1;
  double warning_s = kNotGiven;
  double deadline_s = kNotGiven;
};

/// Notes what this thread is about, as long as the note lives; of nested notes the innermost
/// counts. It takes a function's name, such as "commit()", and that of the file; both must outlive
/// the note. The environment gives the limits that the note doesn't.
class CallNote {
 public:
  CallNote(const char* call, std::string_view path, const WaitLimits& limits = {});
  ~CallNote();
  CallNote(const CallNote&) = delete;
  CallNote& operator=(const CallNote&) = delete;

  /// Returns the call of this thread's innermost note; empty without a note.
  static std::string call();
  /// Call and file of that note, as in "commit() of 'a_file'".
  static std::string text();
  /// Returns the limits of that note, or of the environment where the note gives none.
  static WaitLimits limits();

 private:
  const char* call_;
  std::string_view path_;
  WaitLimits limits_;
  const CallNote* outer_;
};

/// Tells when it is time to report that a wait lasts.
class LongWait {
 public:
  /// A wait begins.
  void begin();
  bool has_begun() const { return begin_ != Clock::time_point(); }
  /// Returns true after the limit, after twice as long, and so on; once each time.
  bool is_due();
  double seconds() const;
  const WaitLimits& limits() const { return limits_; }
  bool is_over_deadline() const { return limits_.deadline_s > 0 && seconds() >= limits_.deadline_s; }

 private:
  using Clock = std::chrono::steady_clock;
  WaitLimits limits_;
  Clock::time_point begin_;
  double next_s_ = 0;
};

/// Reports that a rank waits for others of its node, as one line on standard error: "rank 3 on n1
/// has waited 10 s in commit() of 'a_file' for <whom>". Never throws.
void say_wait(int rank, double seconds, const std::string& whom) noexcept;
/// Writes a line to standard error, with the library's name in front. Never throws.
void say_line(const std::string& words) noexcept;

/// Names ranks with their hosts: "rank 5 on n3", "ranks 2-3 on n2, 6-7 on n4". \pre `ranks` ascend
std::string describe_ranks(std::span<const int> ranks, std::span<const int> node_of_rank, std::span<const std::string> hosts);

/// Returns the name of this machine.
std::string host_name();

}  // namespace stria
