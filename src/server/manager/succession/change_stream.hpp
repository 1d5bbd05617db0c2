// Knows which changes of the names the standby has, and so what clients may be told.
//
// Problem: no client hears of a change that would be lost with the manager's disk. Method: an
// answer waits until the standby has all that was changed before it. Where the standby is lost,
// answers wait until servers of the store have been told so (the marks of wire/standby.hpp),
// because then it can't take over unnoticed; from then on the manager goes on alone. Cost: a
// comparison for an answer that waits for nothing; memory for the changes that the standby doesn't
// have yet, up to 64 MiB.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "server/manager/succession/change_recorder.hpp"
#include "stria/status.hpp"
#include "wire/standby.hpp"

namespace stria::server {

/// This is thread-safe.
class ChangeStream {
 public:
  enum class State {
    kAlone,   ///< there is no standby, or the servers know that it is behind
    kUnsure,  ///< a standby may have all, and the manager has yet to tell that it hasn't
    kInStep,  ///< what is answered is on the standby
  };
  explicit ChangeStream(std::chrono::milliseconds patience) : patience_(patience) {}

  /// Says, before the manager answers anybody, that there was a standby when it ended.
  void had_standby(const wire::Identity& standby);

  // The manager calls the following.

  /// A standby has the copy of that number, and takes what changes from now on.
  void begin(uint64_t number, const wire::Identity& standby);
  void add(std::vector<Change> changes);
  /// Nobody follows any more, by what was said or for lack of news.
  void leave();
  /// Tells whether anybody follows. False: what changes need not be recorded.
  bool is_followed() const;
  uint64_t last() const;
  State state() const;
  wire::Identity standby() const;
  /// Returns how many changes the standby doesn't have.
  int64_t behind() const;
  /// When the standby was heard of.
  bool was_heard_within(std::chrono::milliseconds time) const;

  // The standby calls the following.

  /// Notes what it has, and gives it what it hasn't. Where there is nothing, `ring` is called once
  /// there is. kAborted: it has to begin with another copy.
  Result<wire::Followed> follow(const wire::Follow& request, std::function<void()> ring);

  // The following are for those who wait for answers.

  /// Tells whether what was done up to that change may be told. If not, `ring` is called when that
  /// may have changed.
  bool may_answer(uint64_t sequence, std::function<void()> ring);
  /// Waits for that; false when it is not so in time.
  bool wait(uint64_t sequence, std::chrono::milliseconds time);

  /// Must be called some times a second. Returns true when the standby was lost just now.
  bool tidy();
  /// Notes that enough servers know: no standby has all changes, and the manager may go on alone.
  void told_all();

 private:
  using Clock = std::chrono::steady_clock;
  using Rings = std::vector<std::function<void()>>;
  bool may_answer_locked(uint64_t sequence) const;
  void leave_locked();
  Rings take_ready_locked();

  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  State state_ = State::kAlone;
  uint64_t number_ = 0;  // 0: nobody follows
  wire::Identity standby_{};
  std::deque<Change> changes_;  // those that the standby doesn't have, by sequence
  int64_t bytes_ = 0;
  uint64_t last_ = 0;
  uint64_t applied_ = 0;
  Clock::time_point heard_;
  std::function<void()> follower_;
  std::multimap<uint64_t, std::function<void()>> waiting_;
};

}  // namespace stria::server
