// Describes how this rank meets the others about one file: the beginning of every collective call.
//
// Problem: a call that fails on one rank alone, or that isn't made by all, must fail on all of them
// and in the same way.
// Method: what goes wrong between two meetings is kept, and is this rank's word at the next one. A
// meeting hears the words of all ranks, and adds up what they bring with them. Every file begins
// with a roll call, so that ranks which can't even make a session are heard.
// Cost: that of a roll call; an agreement more where a rank has failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/failure/memory_reserve.hpp"
#include "comm/comm.hpp"
#include "file/meet/definition_log.hpp"
#include "file/meet/equality_sums.hpp"
#include "file/meet/roll_call.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Returns the roll call of the next file of `comm`. Collective: yes, without communication.
std::shared_ptr<RollCall> begin_roll_call(Comm& comm);
/// Takes part in the first meeting for a rank that has no session. Returns the error that all ranks
/// return. Collective: with the meet() of the others.
Status give_up_opening(Comm& comm, RollCall& roll_call, Call call, const Status& why);

class Meetings {
 public:
  /// This rank's part of the sums by which all find whether they have the same log.
  static constexpr size_t kLogTerms = 2 * kEqualityTerms + 1;

  /// `path` is the name that the program knows. `puts_off`: where a first meeting fails on this
  /// rank, the call counts as one that was put off.
  Meetings(std::shared_ptr<Comm> comm, std::shared_ptr<RollCall> roll_call, std::string path, bool puts_off);
  Meetings(const Meetings&) = delete;
  Meetings& operator=(const Meetings&) = delete;

  Comm& comm() const { return *comm_; }
  bool is_root() const { return comm_->rank() == 0; }
  /// Returns what all ranks must say alike.
  DefinitionLog& log() { return log_; }
  /// Returns the memory of a collective operation that must go on.
  access::MemoryReserve& reserve() { return reserve_; }
  /// Sets that aside, while the ranks can still agree on a failure.
  Status set_reserve_aside();

  /// The file can be used from now on, or ends on this rank. Local.
  void begin() { is_open_ = true; }
  void end() { is_open_ = false; }
  bool is_open() const { return is_open_; }
  /// Refuses a call after the end of the file on this rank. Local.
  Status check_open() const;
  /// Ends this rank's part: the next meeting of the others fails, with `reason`. Local.
  void leave(std::string_view reason) noexcept;

  /// Notes that a call has failed on this rank, so that the next meeting that asks for failure()
  /// fails everywhere. The first one counts. Local.
  void poison(const Status& status);
  /// Does the same with the file's name before it, which is returned. Success stays success. Local.
  Status refuse(const Status& status);
  const Status& failure() const { return poisoned_; }
  void forget_failure() { poisoned_ = Status(); }

  /// Begins every collective call. Returns the same error on all ranks when a rank has left, when
  /// ranks make different calls, or when `mine` is an error on any rank. Otherwise `sums` becomes
  /// the sums over all ranks, and each number of `least` the least that any rank gives. Collective:
  /// yes.
  Status meet(Call call, const Status& mine, std::span<int64_t> sums = {}, std::span<int64_t> least = {});
  /// Does the same, and gives rank 0's bytes to all ranks. Collective: yes.
  Status meet_and_share(Call call, const Status& mine, std::vector<std::byte>& bytes);
  /// Tells whether the last meeting that failed has put the call off: it wasn't begun on any rank.
  bool was_put_off() const { return was_put_off_; }

  /// Returns what this rank brings to a meeting for check_log_terms(). Local.
  std::array<int64_t, kLogTerms> log_terms() const;
  /// Success, or what differs. Collective: yes, where something does.
  Status check_log_terms(std::span<const int64_t, kLogTerms> sums) const;

 private:
  std::shared_ptr<Comm> comm_;
  std::shared_ptr<RollCall> roll_call_;
  std::string path_;
  bool puts_off_;
  bool was_put_off_ = false;
  bool is_open_ = false;  // not begun, ended on all ranks, or left by this one
  Status poisoned_;
  DefinitionLog log_;
  access::MemoryReserve reserve_;
};

}  // namespace stria::file
