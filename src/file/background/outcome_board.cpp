#include "file/background/outcome_board.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"

namespace stria::file {

/// An outcome in shared memory. The rest is written before the state.
struct OutcomeBoard::Word {
  enum State : uint32_t { kOpen, kTold };
  std::atomic<uint32_t> state{kOpen};
  uint32_t bytes = 0;
  std::array<std::byte, Comm::kGatherBytesMax> message{};

  bool is_told() const { return state.load(std::memory_order_acquire) != kOpen; }

  void tell(const Status& outcome) noexcept {
    STRIA_CHECK(!is_told());  // a rank may be reading it
    give_outcome(outcome, [this](std::span<const std::byte> encoded) {
      STRIA_CHECK(encoded.size() <= message.size(), encoded.size(), message.size());
      bytes = static_cast<uint32_t>(encoded.size());
      std::copy(encoded.begin(), encoded.end(), message.begin());
    });
    state.store(kTold, std::memory_order_release);
  }

  Status read() const {
    STRIA_ASSERT(is_told());
    return decode_outcome(std::span(message).first(bytes)).status();
  }
};

struct OutcomeBoard::Part {
  pid_t process = 0;
  cpu_set_t processors{};  ///< on which it may run
  Word own;
  Word decision;  ///< the first rank's
  std::atomic<int64_t> staged_bytes{0};
  std::atomic<int64_t> written_bytes{0};

  bool has_ended() const { return kill(process, 0) != 0 && errno == ESRCH; }
};

namespace {

// Returns how many ranks the job has on this node, as mpiexec tells; 1 for a program without it.
int ranks_on_node() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* count = std::getenv(name)) {
      return std::atoi(count);
    }
  }
  return 1;
}

}  // namespace

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
  auto* const mine = new (memory_->part(node_rank_).data())
      Part{.process = getpid(), .processors = {}, .own = {}, .decision = {}, .staged_bytes = 0, .written_bytes = 0};
  if (sched_getaffinity(0, sizeof mine->processors, &mine->processors) != 0) {
    std::memset(&mine->processors, 0xff, sizeof mine->processors);  // it may run anywhere
  }
  return Status();
}

OutcomeBoard::Part& OutcomeBoard::part(int node_rank) const {
  STRIA_ASSERT(memory_ != nullptr && node_rank >= 0 && static_cast<size_t>(node_rank) < ranks_.size(), node_rank,
               ranks_.size());
  return *std::launder(reinterpret_cast<Part*>(memory_->part(node_rank).data()));
}

int64_t OutcomeBoard::count_untold(int end_rank) const {
  int64_t count = 0;
  for (int i = 0; i < end_rank; ++i) {
    const Part& other = part(i);
    count += other.own.is_told() || other.has_ended() ? 0 : 1;
  }
  return count;
}

int64_t OutcomeBoard::ranks_before() const {
  return count_untold(node_rank_);
}

int64_t OutcomeBoard::ranks_to_come() const {
  return count_untold(static_cast<int>(ranks_.size()));
}

void OutcomeBoard::note_staged(int64_t bytes) const noexcept {
  part(node_rank_).staged_bytes = bytes;
}

void OutcomeBoard::note_written(int64_t bytes) const noexcept {
  part(node_rank_).written_bytes += bytes;
}

OutcomeBoard::Progress OutcomeBoard::progress() const {
  Progress progress;
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    progress.staged_bytes += part(i).staged_bytes;
    progress.written_bytes += part(i).written_bytes;
  }
  return progress;
}

cpu_set_t OutcomeBoard::idle_processors() const {
  cpu_set_t idle;
  CPU_ZERO(&idle);
  if (ranks_on_node() != static_cast<int>(ranks_.size())) {
    return idle;
  }
  const auto count = std::min<int>(CPU_SETSIZE, static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
  for (int number = 0; number < count; ++number) {
    CPU_SET(number, &idle);
  }
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    cpu_set_t both;
    CPU_AND(&both, &idle, &part(i).processors);
    CPU_XOR(&idle, &idle, &both);
  }
  return idle;
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
