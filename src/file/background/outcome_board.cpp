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
  Word decision;  ///< the first rank's

  bool has_ended() const { return kill(process, 0) != 0 && errno == ESRCH; }
};

OutcomeBoard::OutcomeBoard(const Comm& comm) : node_rank_(comm.node_rank()), size_(comm.size()) {
  const auto nodes = comm.node_of_rank();
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank] == nodes[static_cast<size_t>(comm.rank())]) {
      ranks_.push_back(static_cast<int>(rank));
    }
  }
}

Status OutcomeBoard::share(Comm& comm) {
  STRIA_ASSIGN_OR_RETURN(memory_, comm.allocate_shared(sizeof(Part)));
  new (memory_->part(node_rank_).data()) Part{.process = getpid(), .own = {}, .decision = {}};
  return Status();
}

OutcomeBoard::Part& OutcomeBoard::part(int node_rank) const {
  return *std::launder(reinterpret_cast<Part*>(memory_->part(node_rank).data()));
}

void OutcomeBoard::tell(const Status& outcome) const noexcept {
  part(node_rank_).own.tell(outcome);
}

std::optional<Status> OutcomeBoard::collect() const {
  const int count = static_cast<int>(ranks_.size());
  for (int i = 0; i < count; ++i) {
    const Part& other = part(i);
    // An outcome may come between the two looks.
    if (!other.own.is_told() && !(other.has_ended() && !other.own.is_told())) {
      return std::nullopt;
    }
  }
  Status first;
  for (int i = 0; i < count; ++i) {
    const Part& other = part(i);
    keep_first_failure(
        first, other.own.is_told() ? other.own.read() : Status(ErrorCode::kIo, "its process ended before it had written"),
        ranks_[static_cast<size_t>(i)], size_);
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
  const Part& first = part(0);
  if (first.decision.is_told()) {
    return first.decision.read();
  }
  if (first.has_ended() && !first.decision.is_told()) {
    return Status(ErrorCode::kIo, fmt::format("rank {}: its process ended before it had told the outcome", ranks_[0]));
  }
  return std::nullopt;
}

}  // namespace stria::file
