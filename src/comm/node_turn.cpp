#include "comm/node_turn.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "comm/comm.hpp"

namespace stria {

namespace {

constexpr int64_t kStateBytes = 4096;

// Tickets that differ by a multiple of 32 share a wake-up bit; the loop around the wait sorts them out.
uint32_t bit_of(uint32_t ticket) {
  return uint32_t{1} << (ticket % 32);
}

uint32_t* word_of(std::atomic<uint32_t>& value) {
  return reinterpret_cast<uint32_t*>(&value);
}

void sleep_unless_changed(std::atomic<uint32_t>& value, uint32_t seen, uint32_t bit) {
  syscall(SYS_futex, word_of(value), FUTEX_WAIT_BITSET, seen, nullptr, nullptr, bit);
}

void wake(std::atomic<uint32_t>& value, uint32_t bit) {
  syscall(SYS_futex, word_of(value), FUTEX_WAKE_BITSET, INT32_MAX, nullptr, nullptr, bit);
}

}  // namespace

NodeTurn::NodeTurn(std::shared_ptr<SharedBuffer> memory, State* state) : memory_(std::move(memory)), state_(state) {}

Result<std::unique_ptr<NodeTurn>> NodeTurn::create(Comm& comm) {
  static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  auto memory = comm.allocate_shared(comm.node_rank() == 0 ? kStateBytes : 0);
  if (memory.ok() && comm.node_rank() == 0) {
    new ((*memory)->part(0).data()) State{};
  }
  comm.barrier();  // nobody looks before it is initialised
  if (!memory.ok()) {
    return memory.status();
  }
  auto* state = reinterpret_cast<State*>((*memory)->part(0).data());
  return std::unique_ptr<NodeTurn>(new NodeTurn(*memory, state));
}

void NodeTurn::acquire(const std::function<bool()>& meanwhile) {
  uint32_t ticket = state_->next_ticket.fetch_add(1);
  while (meanwhile && state_->serving.load() != ticket && meanwhile()) {
  }
  for (uint32_t serving = state_->serving.load(); serving != ticket; serving = state_->serving.load()) {
    state_->waiting.fetch_add(1);
    sleep_unless_changed(state_->serving, serving, bit_of(ticket));
    state_->waiting.fetch_sub(1);
  }
}

void NodeTurn::release() {
  uint32_t next = state_->serving.fetch_add(1) + 1;
  if (state_->waiting.load() > 0) {
    wake(state_->serving, bit_of(next));
  }
}

}  // namespace stria
