// Decides who may be in a call on a file, and when the file may end.
//
// Problem: a report of progress runs within a call, and may drop the last handle on the file.
// Method: one thread at a time is inside (one_thread.hpp). A report must not call, and what ends
// the file in a report is kept until the outermost call ends.
// Cost: one atomic exchange a call.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "file/session/one_thread.hpp"
#include "stria/file.hpp"

namespace stria::file {

class Session;

/// Everything here is local.
class CallGate {
 public:
  enum class Entry { kInside, kOtherThread, kInReport };

  /// Lets a call in, which may be within another one of the same thread. Where it isn't inside
  /// then, it must do nothing, and doesn't leave().
  Entry enter() noexcept;
  /// Does the same as enter(), but waits for the end of the other thread's call, and lets in from a
  /// report.
  void await_turn() noexcept;
  /// Ends a call. After the outermost one, the session may be gone: end_after_report().
  void leave() noexcept;
  /// Tells whether a call was turned away since the last time, because another thread was inside.
  bool take_refusal() noexcept { return one_thread_.take_refusal(); }

  /// Runs a report of progress. What it throws is for the caller.
  void run(const std::function<void(const Progress&)>& report, const Progress& progress);
  /// Tells whether one is running: the session is in use further up.
  bool is_in_report() const { return in_report_; }
  /// Has the outermost call end the session by `end`, and keeps it until then. To be called in the
  /// thread of the report. \pre is_in_report()
  void end_after_report(std::shared_ptr<Session> session, void (*end)(Session&) noexcept) noexcept;

  /// False in a process that was forked since: the file is that of its parent.
  bool is_of_this_process() const { return process_ == getpid(); }

 private:
  OneThread one_thread_;
  bool in_report_ = false;
  std::shared_ptr<Session> ending_;  // the owner of this, where it ends with the outermost call
  void (*end_)(Session&) noexcept = nullptr;
  pid_t process_ = getpid();
};

}  // namespace stria::file
