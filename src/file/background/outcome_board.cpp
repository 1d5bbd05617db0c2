#include "file/background/outcome_board.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"

namespace stria::file {

/// An outcome in shared memory. The rest is written before the state.
struct OutcomeBoard::Word {
  enum State : uint32_t { kOpen, kTold, kWithoutWords };
  std::atomic<uint32_t> state{kOpen};
  uint32_t bytes = 0;
  std::array<std::byte, Comm::kGatherBytesMax> message{};

  bool is_told() const { return state.load(std::memory_order_acquire) != kOpen; }

  void tell(const Status& outcome) noexcept {
    try {
      const std::vector<std::byte> encoded = encode_outcome(outcome, {});
      bytes = static_cast<uint32_t>(encoded.size());
      std::copy(encoded.begin(), encoded.end(), message.begin());
      state.store(kTold, std::memory_order_release);
    } catch (const std::bad_alloc&) {
      state.store(kWithoutWords, std::memory_order_release);
    }
  }

  Status read() const {
    if (state.load(std::memory_order_acquire) == kWithoutWords) {
      return Status(ErrorCode::kResourceExhausted, "out of memory");
    }
    return decode_outcome(std::span(message).first(bytes)).status();
  }
};

struct OutcomeBoard::Part {
  pid_t process = 0;
  Word own;
  Word decision;  ///< rank 0's

  bool has_ended() const { return kill(process, 0) != 0 && errno == ESRCH; }
};

Status OutcomeBoard::share(Comm& comm) {
  rank_ = comm.rank();
  size_ = comm.size();
  STRIA_ASSIGN_OR_RETURN(memory_, comm.allocate_shared(sizeof(Part)));
  new (memory_->part(rank_).data()) Part{.process = getpid(), .own = {}, .decision = {}};
  return Status();
}

OutcomeBoard::Part& OutcomeBoard::part(int rank) const {
  return *std::launder(reinterpret_cast<Part*>(memory_->part(rank).data()));
}

void OutcomeBoard::tell(const Status& outcome) const noexcept {
  part(rank_).own.tell(outcome);
}

std::optional<Status> OutcomeBoard::collect() const {
  for (int rank = 0; rank < size_; ++rank) {
    const Part& other = part(rank);
    // An outcome may come between the two looks.
    if (!other.own.is_told() && !(other.has_ended() && !other.own.is_told())) {
      return std::nullopt;
    }
  }
  Status first;
  for (int rank = 0; rank < size_; ++rank) {
    const Part& other = part(rank);
    keep_first_failure(
        first, other.own.is_told() ? other.own.read() : Status(ErrorCode::kIo, "its process ended before it had written"), rank,
        size_);
  }
  return first;
}

void OutcomeBoard::decide(const Status& outcome) const noexcept {
  part(0).decision.tell(outcome);
}

bool OutcomeBoard::is_decided() const {
  return part(0).decision.is_told();
}

std::optional<Status> OutcomeBoard::decision() const {
  const Part& root = part(0);
  if (root.decision.is_told()) {
    return root.decision.read();
  }
  if (root.has_ended() && !root.decision.is_told()) {
    return Status(ErrorCode::kIo, "rank 0: its process ended before the file had its name");
  }
  return std::nullopt;
}

}  // namespace stria::file
