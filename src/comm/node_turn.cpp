#include "comm/node_turn.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <new>
#include <string>

#include "base/check.hpp"
#include "comm/comm.hpp"
#include "comm/pause.hpp"
#include "comm/waiting.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria {

namespace {

constexpr int64_t kStateBytes = 4096;

// How long a rank that is woken early spins before it sleeps again. The holder may have lost
// its processor.
constexpr std::chrono::microseconds kLongestSpin(100);
constexpr int kLooksAtTheClock = 32;  // a spin looks at the clock once in this many times

// Returns the phase in which a ticket is served; the phase before it is the announcement. Both wrap
// around together.
uint32_t phase_of(uint32_t ticket) {
  return 2 * ticket;
}

// Tickets that differ by a multiple of 32 share a wake-up bit. The loop around the wait
// tells them apart.
uint32_t bit_of(uint32_t phase) {
  return uint32_t{1} << (phase / 2 % 32);
}

// Tells whether the ticket has the turn in this phase. Its end may be announced already.
bool serves(uint32_t phase, uint32_t ticket) {
  return (phase & ~uint32_t{1}) == phase_of(ticket);
}

void spin_while(const std::atomic<uint32_t>& value, uint32_t seen) {
  const auto end = std::chrono::steady_clock::now() + kLongestSpin;
  for (int i = 1; value.load() == seen; ++i) {
    if (i % kLooksAtTheClock == 0 && std::chrono::steady_clock::now() > end) {
      return;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
}

void sleep_unless_changed(std::atomic<uint32_t>& value, uint32_t seen, uint32_t bit) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += kLongestSleepSeconds;
  syscall(SYS_futex, futex_word(value), FUTEX_WAIT_BITSET, seen, &until, nullptr, bit);
}

void wake(std::atomic<uint32_t>& value, uint32_t bit) {
  syscall(SYS_futex, futex_word(value), FUTEX_WAKE_BITSET, INT32_MAX, nullptr, nullptr, bit);
}

}  // namespace

NodeTurn::NodeTurn(std::shared_ptr<SharedBuffer> memory, State* state, int rank)
    : memory_(std::move(memory)), state_(state), rank_(rank) {}

Result<std::unique_ptr<NodeTurn>> NodeTurn::create(Comm& comm) {
  static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  auto memory = comm.allocate_shared(comm.node_rank() == 0 ? kStateBytes : 0);
  if (memory.ok() && comm.node_rank() == 0) {
    new ((*memory)->part(0).data()) State{};
  }
  comm.barrier();  // no rank looks before it is initialised
  if (!memory.ok()) {
    return memory.status();
  }
  auto* state = reinterpret_cast<State*>((*memory)->part(0).data());
  return std::unique_ptr<NodeTurn>(new NodeTurn(*memory, state, comm.rank()));
}

NodeTurn* node_turn(Comm& comm) {
  if (!comm.turn_made_) {
    auto made = NodeTurn::create(comm);
    if (comm.agree(made.status()).ok()) {
      comm.turn_ = std::move(*made);
    }
    comm.turn_made_ = true;
  }
  return comm.turn_.get();
}

void NodeTurn::acquire() {
  const uint32_t ticket = state_->next_ticket.fetch_add(1);
  if (!serves(state_->phase.load(), ticket)) {
    wait_for(ticket);
  }
  state_->holder.store(rank_, std::memory_order_relaxed);
}

void NodeTurn::wait_for(uint32_t ticket) {
  const trace::WaitTimer timer;
  const uint32_t announced = phase_of(ticket) - 1;
  bool has_spun = false;
  LongWait long_wait;
  long_wait.begin();
  for (uint32_t phase = state_->phase.load(); !serves(phase, ticket); phase = state_->phase.load()) {
    if (phase == announced && !has_spun) {
      has_spun = true;
      spin_while(state_->phase, announced);
      continue;
    }
    state_->waiting.fetch_add(1);
    sleep_unless_changed(state_->phase, phase, bit_of(phase_of(ticket)));
    state_->waiting.fetch_sub(1);
    // The next in line reports for all.
    if (serves(state_->phase.load(), ticket - 1) && long_wait.is_due()) {
      say_wait(rank_, long_wait.seconds(), "its turn to write, which rank " + std::to_string(state_->holder.load()) + " has");
    }
  }
}

void NodeTurn::announce() {
  STRIA_CHECK(state_->holder.load(std::memory_order_relaxed) == rank_ && state_->phase.load() % 2 == 0, rank_,
              state_->holder.load(), state_->phase.load());
  const uint32_t phase = state_->phase.fetch_add(1) + 1;
  if (state_->waiting.load() > 0) {
    wake(state_->phase, bit_of(phase + 1));
  }
}

void NodeTurn::release() {
  STRIA_CHECK(state_->holder.load(std::memory_order_relaxed) == rank_, rank_, state_->holder.load());
  const uint32_t phase = (state_->phase.load() | 1) + 1;
  state_->phase.store(phase);
  if (state_->waiting.load() > 0) {
    wake(state_->phase, bit_of(phase));
    sched_yield();
  }
}

}  // namespace stria
