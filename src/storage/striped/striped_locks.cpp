#include "storage/striped/striped_locks.hpp"

#include <string>
#include <utility>

#include "base/check.hpp"

namespace stria::storage {

class StripedRangeLock : public RangeLock {
 public:
  /// `taken`: as the server of `link` was asked for it.
  StripedRangeLock(StripedLocks& locks, Store::Borrowed link, const wire::LockRange& taken)
      : locks_(locks), link_(std::move(link)), taken_(taken), generation_(link_.link()->generation()) {
    if (is_note()) {
      const std::lock_guard lock(locks_.notes_mutex_);
      locks_.notes_.insert(this);
    }
  }
  StripedRangeLock(const StripedRangeLock&) = delete;
  StripedRangeLock& operator=(const StripedRangeLock&) = delete;
  ~StripedRangeLock() override {
    if (is_note()) {
      const std::lock_guard lock(locks_.notes_mutex_);
      locks_.notes_.erase(this);
    }
    const Status outcome = locks_.give_up(link_, taken_, generation_);
    // A note that was forgotten since the last write has been of no use to anybody.
    if (!outcome.ok() && !is_note()) {
      locks_.note_lost(taken_.range, outcome);
    }
  }

  ByteRange range() const { return taken_.range; }
  /// Tells whether the part's server holds it, as far as this handle knows. A part that moves
  /// leaves it behind; the old server ends the connection too, but maybe after the next write.
  bool is_held() {
    return locks_.is_there(link_, taken_) && link_.link()->connected() && !link_.link()->is_stale() &&
           link_.link()->generation() == generation_;
  }
  /// Returns whether no others have come since it was lost.
  Result<bool> take_again() {
    STRIA_ASSIGN_OR_RETURN(const bool taken, locks_.ask(link_, wire::Kind::kLock, taken_, 0));
    wire::LockRange notes{.range = {StripedLocks::kBehindAnyFile, INT64_MAX}, .holder = locks_.holder()};
    STRIA_ASSIGN_OR_RETURN(const bool others, locks_.ask(link_, wire::Kind::kIsLocked, notes, 0));
    generation_ = link_.link()->generation();
    return taken && !others;
  }

 private:
  bool is_note() const { return taken_.range.begin >= StripedLocks::kBehindAnyFile; }

  StripedLocks& locks_;
  Store::Borrowed link_;
  wire::LockRange taken_;
  int64_t generation_;
};

StripedLocks::StripedLocks(SlotServers& servers) : servers_(servers) {}

uint64_t StripedLocks::holder() {
  std::call_once(holder_is_made_, [this] { wire::randomise(std::as_writable_bytes(std::span(&holder_, 1))); });
  return holder_;
}

Result<std::unique_ptr<RangeLock>> StripedLocks::take(ByteRange range, LockMode mode, uint32_t wait_ms) {
  STRIA_CHECK(!range.empty(), range.begin, range.end);
  STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, servers_.borrow(0));
  wire::LockRange wanted{.range = range, .exclusive = mode == LockMode::kExclusive, .holder = holder()};
  STRIA_ASSIGN_OR_RETURN(const bool got, ask(link, wire::Kind::kLock, wanted, wait_ms));
  std::unique_ptr<RangeLock> held;
  if (got) {
    held = std::make_unique<StripedRangeLock>(*this, std::move(link), wanted);
  }
  return held;
}

Result<bool> StripedLocks::is_locked_elsewhere(ByteRange range) {
  STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, servers_.borrow(0));
  wire::LockRange asked{.range = range, .holder = holder()};
  return ask(link, wire::Kind::kIsLocked, asked, 0);
}

Status StripedLocks::renew_notes() {
  const std::lock_guard lock(notes_mutex_);
  for (StripedRangeLock* note : notes_) {
    if (note->is_held()) {
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(const bool alone, note->take_again());
    if (!alone) {
      note_lost(note->range(), Status(ErrorCode::kIo, "another program writes the file since"));
    }
  }
  return loss();
}

Status StripedLocks::loss() const {
  const std::lock_guard lock(lost_mutex_);
  return lost_lock_;
}

void StripedLocks::note_lost(ByteRange range, const Status& why) {
  const std::string which = range.begin >= kBehindAnyFile
                                ? "the note that this program writes"
                                : "a lock on bytes " + std::to_string(range.begin) + " to " + std::to_string(range.end);
  const std::lock_guard lock(lost_mutex_);
  lost_lock_ = Status(ErrorCode::kIo, which + " was lost, and others may have changed bytes (" + why.message() + ")");
}

Result<bool> StripedLocks::ask(Store::Borrowed& link, wire::Kind kind, wire::LockRange& range, uint32_t wait_ms) {
  std::vector<std::byte> reply;
  const auto attempt = [&]() -> Status {
    if (link.address() != servers_.address(0)) {
      STRIA_ASSIGN_OR_RETURN(link, servers_.borrow(0));
    }
    range.file = servers_.part(0);
    Call call = servers_.call_to(link, kind, wire::encode(range));
    call.wait_ms = wait_ms;
    STRIA_RETURN_IF_ERROR(run_calls({&call, 1}));
    reply = std::move(call.reply);
    return {};
  };
  STRIA_RETURN_IF_ERROR(servers_.follow(attempt));
  STRIA_ASSIGN_OR_RETURN(const auto answer, wire::decode<wire::Answer>(reply));
  return answer.yes;
}

bool StripedLocks::is_there(const Store::Borrowed& borrowed, const wire::LockRange& taken) const {
  return taken.file == servers_.part(0) && borrowed.address() == servers_.address(0);
}

Status StripedLocks::give_up(Store::Borrowed& borrowed, const wire::LockRange& taken, int64_t generation) {
  Call call;
  call.link = borrowed.link();
  call.kind = wire::Kind::kUnlock;
  call.body = wire::encode(taken);
  call.only_this_connection = true;
  STRIA_RETURN_IF_ERROR(run_calls({&call, 1}));
  STRIA_ASSIGN_OR_RETURN(const auto answer, wire::decode<wire::Answer>(call.reply));
  if (!answer.yes || call.link->generation() != generation) {
    return Status(ErrorCode::kIo, "server " + call.link->server() + " had forgotten it");
  }
  return is_there(borrowed, taken)
             ? Status()
             : Status(ErrorCode::kIo, "the part of the file that it was for has moved from server " + call.link->server());
}

}  // namespace stria::storage
