// What a thread says when it has waited for long: a rank that never comes, or a link that is cut, leaves the others without an
// error.
//
// Method: the outermost calls note what they are about, a few stores; loops that wait look at the clock between their sleeps,
// and after STRIA_WAIT_WARNING_S seconds (60 unless set; 0: never), or as many as the file's hint says, a line goes to standard
// error, again after twice as long, and so on. Whom the ranks of a communicator wait for is found out by
// comm/mpi/wait_watch.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stria {

class Comm;

/// After how many seconds of a wait something is said, and the job ends; 0: never.
struct WaitLimits {
  static constexpr double kNotGiven = -1;
  double warning_s = kNotGiven;
  double deadline_s = kNotGiven;
};

/// Notes what this thread is about, for as long as it lives; the inner one counts. A function's name, such as "commit()", and
/// the file's, which both must outlive this; limits that aren't given are the environment's.
class CallNote {
 public:
  CallNote(const char* call, std::string_view path, const WaitLimits& limits = {});
  ~CallNote();
  CallNote(const CallNote&) = delete;
  CallNote& operator=(const CallNote&) = delete;

  /// Of the innermost on this thread; empty without one.
  static std::string call();
  /// Likewise, as in "commit() of 'a_file'".
  static std::string text();
  /// Likewise, with the environment's where it gives none.
  static WaitLimits limits();

 private:
  const char* call_;
  std::string_view path_;
  WaitLimits limits_;
  const CallNote* outer_;
};

/// Tells when it is time to say that a wait lasts.
class LongWait {
 public:
  /// A wait begins.
  void begin();
  bool has_begun() const { return begin_ != Clock::time_point(); }
  /// True after the limit, after twice as long, and so on; once each time.
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

/// For the waits of ranks of one node for each other: "rank 3 on n1 has waited 60 s in commit() of 'a_file' for <whom>", as one
/// line on standard error. Never throws.
void say_wait(int rank, double seconds, const std::string& whom) noexcept;
/// A line on standard error, with our name in front. Never throws.
void say_line(const std::string& words) noexcept;

/// "rank 5 on n3", "ranks 2-3 on n2, 6-7 on n4": ranks in ascending order, their nodes, and the nodes' hosts.
std::string describe_ranks(std::span<const int> ranks, std::span<const int> node_of_rank, std::span<const std::string> hosts);

/// The name of this machine.
std::string host_name();

}  // namespace stria
