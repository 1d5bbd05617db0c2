// Describes what the calls on a file have cost on this rank: bytes, times, counts, and by which
// method.
//
// The program gets them as a Report; the recorder's counters, which outlive the file, get the same.
// Everything here is local, and decides nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "access/plan/planner.hpp"
#include "file/session/environment.hpp"
#include "stria/file.hpp"
#include "trace/counters/file_counters.hpp"

namespace stria::file {

class Accounts {
 public:
  /// They begin with the opening of the file at `path`.
  explicit Accounts(const std::string& path);
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  const Report& report() const { return report_; }
  Report& report() { return report_; }
  /// Returns where the phases of calls are timed.
  PhaseTimes& times() { return report_.phases; }
  /// Returns the recorder's number of the file.
  uint16_t trace_id() const { return trace_id_; }

  /// Counts a call of put() or get().
  void count_transfer(bool put, int64_t bytes);
  /// Counts what the ranks have agreed to move.
  void count_agreed(int64_t bytes) { report_.useful_bytes += bytes; }
  /// Notes how long the file has been open, and what its phases have taken. It is called at the end
  /// of a call.
  void note_time();
  /// Keeps by which plan data are moved.
  void note_method(const access::Plan& plan);
  /// Counts a move by that plan, and tells the trace of it on rank 0.
  void count_move(const access::Plan& plan, const Environment& environment);
  /// Notes what the move itself chose in place of the planned method.
  void note_choice(access::Method method, const std::string& reason);
  /// Notes what the ranks chose besides the plan; nothing where that is empty. May throw
  /// std::bad_alloc.
  void note_choice(const access::Plan& plan, const std::string& choice, const Environment& environment);

 private:
  Report report_;
  uint16_t trace_id_;
  trace::FileCounters& counters_;  // the recorder's, which never go
  PhaseTimes counted_phases_;      // what these know of the report's
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

}  // namespace stria::file
