// The parts that are on their way to this server or from it (manager/moves.hpp decides about them).
//
// Problem: clients go on writing to a part while it is copied, and from the moment at which another
// server has it no byte may be written here, or be read of what lies here still.
// Method: while a part is only followed, its clients do as ever, and which stretches they change is
// noted; these are copied again. Then it is held, for the last of them: whoever comes without the
// move's ticket is told that the part is on its way, and asks the manager where it is. A part that
// has gone stays so until its bytes are removed. On the new server, only the ticket's bearer gets
// at the part before it is the file's. Nothing of this is on the disk: a server that starts ends
// the moves of its parts.
// Cost: nothing but a load of a counter while no part moves. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/piece_row.hpp"
#include "stria/status.hpp"
#include "wire/moves.hpp"

namespace stria::server {

class MovingParts {
 public:
  /// kNotFound when the part is held, is being received, or has gone, unless by the move's ticket;
  /// and for the ticket of a move that is over.
  Status check(uint64_t part, const wire::Ticket& ticket) const;
  /// The bytes have been written, and who wrote them still uses the object.
  void changed(uint64_t part, std::span<const PieceRow> rows);
  /// Does the same for all bytes from one on.
  void changed_from(uint64_t part, int64_t begin);

  /// Changes are noted from now on, unless they are already. kAborted for a part that has gone.
  Status follow(uint64_t part, const wire::Ticket& ticket);
  /// kAborted unless the part is followed, or held, by that ticket.
  Status hold(uint64_t part, const wire::Ticket& ticket);
  /// Clients may have it, and changes are noted.
  void release(uint64_t part, const wire::Ticket& ticket);
  /// kAborted for a ticket that is older than one that came before.
  Status receive(uint64_t part, const wire::Ticket& ticket);
  /// kAborted unless it is being received, or open, by that ticket. Calls `last` before clients are
  /// let to it, and not for a part that is open: its clients may have changed it.
  Status open(uint64_t part, const wire::Ticket& ticket, const std::function<Status()>& last);
  /// kAborted unless it is held by that ticket.
  Status gone(uint64_t part, const wire::Ticket& ticket);
  /// Fills in the number of the next change, and what was changed from `since` on.
  void tell_changes(uint64_t part, uint64_t since, wire::PartMoved& answer) const;

  /// Says what the manager is to be asked about.
  struct Question {
    wire::MovesAsked::Entry asked;
    wire::Ticket ticket;
  };
  /// Parts that have gone take turns, where they are more than a message may have.
  std::vector<Question> questions();
  /// Its answers. Moves that have begun since are not touched. \pre as many as were asked
  void settle(const std::vector<Question>& asked, const std::vector<wire::PartMoves>& states);
  /// Must be called before clients come, with the parts that went meanwhile and the moves that are
  /// at an end.
  void start(const wire::MovesTold& told);
  /// Their bytes are removed.
  void removed(std::span<const uint64_t> parts);

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { kFollowed, kHeld, kReceived, kGone };
  struct Entry {
    wire::Ticket ticket;
    State state = State::kFollowed;
    Clock::time_point since = Clock::now();
    uint64_t changes = 1;                             // counts the answers
    std::unordered_map<int64_t, uint64_t> stretches;  // when each was changed last
    int64_t all_from = INT64_MAX;                     // from here on everything was changed,
    uint64_t all_from_change = 0;                     // at that number
  };
  Entry* find(uint64_t part, const wire::Ticket& ticket);
  void begin(uint64_t part, const wire::Ticket& ticket, State state);

  mutable std::mutex mutex_;
  mutable std::unordered_map<uint64_t, Entry> entries_;
  std::atomic<size_t> count_ = 0;
  uint64_t last_expiry_ms_ = 0;   // that of the tickets by which parts were received
  uint64_t last_gone_asked_ = 0;  // the part that was the last one of a list
};

}  // namespace stria::server
