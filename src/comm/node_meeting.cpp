#include "comm/node_meeting.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "comm/comm.hpp"
#include "trace/span.hpp"
#include "trace/wait_timer.hpp"

namespace stria {

namespace {

constexpr size_t kHeadBytes = 64;

// Ranks meet between pieces of work, where a sleep and the wake from it would take a tenth of a
// small operation. So they first yield for some hundred microseconds, which leaves the processor to
// any rank that has work.
constexpr int kYields = 1000;

}  // namespace

Result<std::unique_ptr<NodeMeeting>> NodeMeeting::create(Comm& comm) {
  static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(State) <= kHeadBytes);
  const size_t bytes = kHeadBytes + 2 * sizeof(int64_t) * kMostValues * static_cast<size_t>(comm.size());
  auto memory = comm.allocate_shared(comm.rank() == 0 ? static_cast<int64_t>(bytes) : 0);
  if (memory.ok() && comm.rank() == 0) {
    new ((*memory)->part(0).data()) State{};
  }
  // No rank looks before it is initialised.
  STRIA_RETURN_IF_ERROR(comm.agree(memory.status()));
  return std::unique_ptr<NodeMeeting>(new NodeMeeting(*memory, static_cast<uint32_t>(comm.size())));
}

NodeMeeting::NodeMeeting(std::shared_ptr<SharedBuffer> memory, uint32_t rank_count)
    : memory_(std::move(memory)), state_(reinterpret_cast<State*>(memory_->part(0).data())), rank_count_(rank_count) {}

std::span<const int64_t> NodeMeeting::exchange(Comm& comm, std::span<const int64_t> mine) {
  auto* places = reinterpret_cast<int64_t*>(memory_->part(0).data() + kHeadBytes);
  int64_t* all = places + number_ % 2 * kMostValues * rank_count_;
  std::copy(mine.begin(), mine.end(), all + static_cast<size_t>(comm.rank()) * mine.size());
  ++number_;
  // The counts wrap around together: no rank is more than one meeting ahead.
  if (state_->arrived.fetch_add(1) + 1 == number_ * rank_count_) {
    state_->ended.store(number_);
    comm.wake(state_->ended);
  }
  const auto has_ended = [&] { return state_->ended.load() != number_ - 1; };
  if (has_ended()) {
    return {all, mine.size() * rank_count_};
  }
  const trace::Span span(trace::kind(trace::BuiltIn::kMessageWait));
  const trace::WaitTimer timer;
  for (int i = 0; i < kYields && !has_ended(); ++i) {
    comm.pause(0);
  }
  while (!has_ended()) {
    comm.wait_while(state_->ended, number_ - 1);
  }
  return {all, mine.size() * rank_count_};
}

}  // namespace stria
