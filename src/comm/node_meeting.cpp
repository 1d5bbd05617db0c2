#include "comm/node_meeting.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "comm/comm.hpp"
#include "comm/yielding.hpp"
#include "trace/record/span.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria {

Result<std::unique_ptr<NodeMeeting>> NodeMeeting::create(Comm& comm) {
  STRIA_ASSERT(comm.node_count() == 1, comm.node_count());
  static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);
  static_assert(sizeof(State) == kLineBytes && sizeof(Line) == kLineBytes);
  const auto ranks = static_cast<size_t>(comm.size());
  const size_t bytes = sizeof(State) + ranks * (sizeof(Line) + 2 * kSets * kMostValues * sizeof(int64_t));
  auto memory = comm.allocate_shared(comm.rank() == 0 ? static_cast<int64_t>(bytes) : 0);
  if (memory.ok() && comm.rank() == 0) {
    std::byte* base = (*memory)->part(0).data();
    new (base) State{};
    for (size_t rank = 0; rank < ranks; ++rank) {
      new (base + sizeof(State) + rank * sizeof(Line)) Line{};
    }
  }
  // No rank looks before it is initialised.
  STRIA_RETURN_IF_ERROR(comm.agree(memory.status()));
  return std::unique_ptr<NodeMeeting>(new NodeMeeting(comm, *memory));
}

NodeMeeting::NodeMeeting(Comm& comm, std::shared_ptr<SharedBuffer> memory)
    : memory_(std::move(memory)),
      state_(reinterpret_cast<State*>(memory_->part(0).data())),
      rank_(static_cast<size_t>(comm.rank())),
      rank_count_(static_cast<uint32_t>(comm.size())) {}

NodeMeeting::Line& NodeMeeting::line(size_t rank) const {
  return reinterpret_cast<Line*>(state_ + 1)[rank];
}

int64_t* NodeMeeting::values(uint32_t set) const {
  return reinterpret_cast<int64_t*>(&line(rank_count_)) + set * kMostValues * rank_count_;
}

std::span<const int64_t> NodeMeeting::exchange(Comm& comm, std::span<const int64_t> mine) {
  STRIA_CHECK(mine.size() <= kMostValues, mine.size());
  const std::span all(values(exchanges_ % kSets), mine.size() * rank_count_);
  std::copy(mine.begin(), mine.end(), all.subspan(rank_ * mine.size()).begin());
  ++exchanges_;
  // The counts wrap around together: no rank is more than one exchange ahead.
  const uint32_t arrived = state_->arrived.fetch_add(1) + 1;
  STRIA_CHECK(arrived - (exchanges_ - 1) * rank_count_ <= rank_count_, arrived, exchanges_, rank_count_);
  if (arrived == exchanges_ * rank_count_) {
    state_->ended.store(exchanges_);
    comm.wake(state_->ended);
  }
  const auto has_ended = [&] { return state_->ended.load() != exchanges_ - 1; };
  if (has_ended()) {
    return all;
  }
  const trace::Span span(trace::kind(trace::BuiltIn::kMessageWait));
  const trace::WaitTimer timer;
  if (!yield_until(comm, has_ended)) {
    while (!has_ended()) {
      comm.wait_while(state_->ended, exchanges_ - 1);
    }
  }
  return all;
}

void NodeMeeting::pass(Comm& comm) {
  ++operation_;
  begin_operation(comm);
}

// A rank that has left this meeting may come to one more before all have left it, which notes that
// in the other set. Where a rank passes, no set says that it came, whatever the others do next.
std::optional<std::span<const int64_t>> NodeMeeting::come(Comm& comm, std::span<const int64_t> mine) {
  STRIA_CHECK(mine.size() <= kMostValues, mine.size());
  const uint32_t set = met_ % kSets;
  const std::span all(values(kSets + set), kMostValues * rank_count_);
  std::copy(mine.begin(), mine.end(), all.subspan(rank_ * kMostValues).begin());
  ++operation_;
  line(rank_).came[set].store(operation_, std::memory_order_relaxed);
  begin_operation(comm);
  wait_for_all(comm);
  for (size_t rank = 0; rank < rank_count_; ++rank) {
    if (line(rank).came[set].load(std::memory_order_relaxed) != operation_) {
      return std::nullopt;
    }
  }
  ++met_;
  return all;
}

// Either this rank sees the sleeper, or the sleeper sees the number before it sleeps.
void NodeMeeting::begin_operation(Comm& comm) {
  line(rank_).operation.store(operation_);
  if (state_->sleepers.load() > 0) {
    state_->begun.fetch_add(1);
    comm.wake(state_->begun);
  }
}

void NodeMeeting::wait_for_all(Comm& comm) {
  size_t next = 0;
  const auto have_begun = [&] {
    while (next < rank_count_ && line(next).operation.load() >= operation_) {
      ++next;
    }
    return next == rank_count_;
  };
  if (have_begun()) {
    return;
  }
  const trace::Span span(trace::kind(trace::BuiltIn::kMessageWait));
  const trace::WaitTimer timer;
  if (yield_until(comm, have_begun)) {
    return;
  }
  state_->sleepers.fetch_add(1);
  for (uint32_t seen = state_->begun.load(); !have_begun(); seen = state_->begun.load()) {
    comm.wait_while(state_->begun, seen);
  }
  state_->sleepers.fetch_sub(1);
}

}  // namespace stria
