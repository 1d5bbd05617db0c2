#include "comm/node_locks.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "comm/comm.hpp"
#include "comm/node_mutex.hpp"
#include "comm/waiting.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria {

struct NodeLocks::Slot {
  uint64_t ticket;  ///< 0: free
  int64_t begin, end;
  int rank;
  bool exclusive;
  bool held;  ///< false: the rank still waits for it
};

/// Holds what the node shares; the slots follow it.
struct NodeLocks::State {
  /// The number of plain writes that only count themselves, plus kSiever for each exclusive lock
  /// that is held or wanted.
  std::atomic<int64_t> presence;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  uint64_t last_ticket;
  int slot_count;
  uint64_t number;
  std::atomic<uint32_t> note;
  std::atomic<int> left_count;
};

namespace {

constexpr int64_t kSiever = int64_t{1} << 32;
constexpr int64_t kPlainMask = kSiever - 1;
// Answers of whom_to_wait_for() that are not ranks.
constexpr int kNobody = -1;
constexpr int kWriters = -2;
constexpr int kNext = -3;

void init_shared(pthread_cond_t* condition) {
  pthread_condattr_t condition_attributes;
  pthread_condattr_init(&condition_attributes);
  pthread_condattr_setpshared(&condition_attributes, PTHREAD_PROCESS_SHARED);
  pthread_condattr_setclock(&condition_attributes, CLOCK_MONOTONIC);
  pthread_cond_init(condition, &condition_attributes);
  pthread_condattr_destroy(&condition_attributes);
}

}  // namespace

Result<std::unique_ptr<NodeLocks>> NodeLocks::create(Comm& comm) {
  static_assert(std::atomic<int64_t>::is_always_lock_free);
  const int slot_count = comm.node_size() * kPerRank;
  const int64_t bytes = static_cast<int64_t>(sizeof(State) + sizeof(Slot) * static_cast<size_t>(slot_count));
  const bool owner = comm.node_rank() == 0;
  auto memory = comm.allocate_shared(owner ? bytes : 0);
  if (memory.ok() && owner) {
    auto* state = new ((*memory)->part(0).data()) State{};
    state->slot_count = slot_count;
    for (int i = 0; i < slot_count; ++i) {
      new (reinterpret_cast<Slot*>(state + 1) + i) Slot{};
    }
    init_node_mutex(&state->mutex);
    init_shared(&state->changed);
  }
  comm.barrier();  // no rank looks before it is initialised
  if (!memory.ok()) {
    return memory.status();
  }
  auto* state = reinterpret_cast<State*>((*memory)->part(0).data());
  return std::unique_ptr<NodeLocks>(new NodeLocks(*memory, state, comm.rank()));
}

NodeLocks::NodeLocks(std::shared_ptr<SharedBuffer> memory, State* state, int rank)
    : memory_(std::move(memory)), state_(state), rank_(rank) {}

NodeLocks::Slot* NodeLocks::slots() const {
  return reinterpret_cast<Slot*>(state_ + 1);
}

// Returns the rank whose lock keeps `mine` out; kWriters for writes that only count themselves;
// kNext for a rank that is itself waiting.
int NodeLocks::whom_to_wait_for(const Slot& mine) const {
  int whom = kNobody;
  for (int i = 0; i < state_->slot_count; ++i) {
    const Slot& other = slots()[i];
    const bool earlier = other.ticket != 0 && other.ticket < mine.ticket;
    const bool overlaps = other.begin < mine.end && mine.begin < other.end;
    if (earlier && overlaps && (other.exclusive || mine.exclusive)) {
      if (other.held) {
        return other.rank;
      }
      whom = kNext;
    }
  }
  const bool writers = mine.exclusive && (state_->presence.load() & kPlainMask) != 0;
  return whom == kNobody && writers ? kWriters : whom;
}

void NodeLocks::wait_for_change(const MutexLock& held) {
  STRIA_ASSERT(held.is_of(&state_->mutex));
  const trace::WaitTimer timer;
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += kLongestSleepSeconds;
  pthread_cond_timedwait(&state_->changed, &state_->mutex, &until);
}

NodeLocks::Guard NodeLocks::take(ByteRange range, bool exclusive) {
  const MutexLock lock(&state_->mutex);
  int free = 0;
  while (true) {
    for (free = 0; free < state_->slot_count && slots()[free].ticket != 0; ++free) {
    }
    if (free < state_->slot_count) {
      break;
    }
    wait_for_change(lock);
  }
  Slot& mine = slots()[free];
  mine = {.ticket = ++state_->last_ticket,
          .begin = range.begin,
          .end = range.end,
          .rank = rank_,
          .exclusive = exclusive,
          .held = false};
  LongWait long_wait;
  for (int whom = whom_to_wait_for(mine); whom != kNobody; whom = whom_to_wait_for(mine)) {
    if (!long_wait.has_begun()) {
      long_wait.begin();
    }
    wait_for_change(lock);
    // A rank that waits for a waiting rank leaves the report to that one.
    if (whom != kNext && long_wait.is_due()) {
      say_wait(rank_, long_wait.seconds(),
               whom == kWriters ? "writes of its node to end" : fmt::format("rank {} to leave a stretch of the file", whom));
    }
  }
  mine.held = true;
  return Guard(this, free);
}

NodeLocks::Guard NodeLocks::lock(ByteRange range) {
  // Plain writes enter the table from here on. Those under way are waited for.
  state_->presence.fetch_add(kSiever);
  return take(range, true);
}

NodeLocks::Guard NodeLocks::enter_plain(ByteRange range) {
  if (state_->presence.fetch_add(1) < kSiever) {
    return Guard(this, kCounted);
  }
  Guard counted(this, kCounted);  // takes the count back, and wakes a rank that waits for it
  counted = Guard();
  return take(range, false);
}

void NodeLocks::begin_notes(uint64_t number) {
  state_->number = number;
  state_->note.store(0);
  state_->left_count.store(0);
}

uint64_t NodeLocks::number() const {
  return state_->number;
}

uint32_t NodeLocks::note() const {
  return state_->note.load(std::memory_order_relaxed);
}

void NodeLocks::set_note(uint32_t note) {
  state_->note.store(note);
}

void NodeLocks::leave() {
  const int before = state_->left_count.fetch_add(1);
  STRIA_CHECK(before < state_->slot_count / kPerRank, before, state_->slot_count);
}

bool NodeLocks::have_all_left() const {
  return state_->left_count.load() == state_->slot_count / kPerRank;
}

void NodeLocks::release(int slot) {
  if (slot == kCounted) {
    const int64_t before = state_->presence.fetch_sub(1);
    STRIA_CHECK((before & kPlainMask) > 0, before);
    if (before > kSiever) {  // another rank may be waiting for this
      const MutexLock lock(&state_->mutex);
      pthread_cond_broadcast(&state_->changed);
    }
    return;
  }
  const MutexLock lock(&state_->mutex);
  STRIA_CHECK(
      0 <= slot && slot < state_->slot_count && slots()[slot].ticket != 0 && slots()[slot].held && slots()[slot].rank == rank_,
      slot, state_->slot_count, slots()[slot].rank);
  if (slots()[slot].exclusive) {
    const int64_t before = state_->presence.fetch_sub(kSiever);
    STRIA_CHECK(before >= kSiever, before);
  }
  slots()[slot].ticket = 0;
  pthread_cond_broadcast(&state_->changed);
}

NodeLocks::Guard::Guard(Guard&& other) noexcept : locks_(std::exchange(other.locks_, nullptr)), slot_(other.slot_) {}

NodeLocks::Guard& NodeLocks::Guard::operator=(Guard&& other) noexcept {
  if (this != &other) {
    if (locks_ != nullptr) {
      locks_->release(slot_);
    }
    locks_ = std::exchange(other.locks_, nullptr);
    slot_ = other.slot_;
  }
  return *this;
}

NodeLocks::Guard::~Guard() {
  if (locks_ != nullptr) {
    locks_->release(slot_);
  }
}

}  // namespace stria
