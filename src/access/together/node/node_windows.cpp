#include "access/together/node/node_windows.hpp"

#include <algorithm>
#include <new>

#include "access/request/granule.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

constexpr int64_t kStateBytes = 4096;
constexpr int64_t kBitsAByte = 8;  // the smallest granule is a byte

}  // namespace

Result<std::unique_ptr<NodeWindows>> NodeWindows::create(Comm& comm, int64_t window_bytes) {
  STRIA_ASSERT(comm.node_count() == 1 && window_bytes > 0, comm.node_count(), window_bytes);
  static_assert(sizeof(State) <= kStateBytes);
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<NodeMeeting> meeting, NodeMeeting::create(comm));
  std::unique_ptr<NodeWindows> made(new NodeWindows);
  made->meeting_ = std::move(meeting);
  made->window_bytes_ = align_up(window_bytes, kLargestGranuleBytes);
  made->rank_count_ = comm.size();
  const int64_t all_windows = made->window_bytes_ * kWindows;
  const bool owner = comm.rank() == 0;
  auto memory = comm.allocate_shared(owner ? kStateBytes + all_windows + all_windows / kBitsAByte : 0);
  if (memory.ok() && owner) {
    std::byte* base = (*memory)->part(0).data();
    new (base) State{};
    std::fill_n(base + kStateBytes + all_windows, all_windows / kBitsAByte, std::byte{0});
  }
  STRIA_RETURN_IF_ERROR(comm.agree(memory.status()));
  made->memory_ = *memory;
  std::byte* base = made->memory_->part(0).data();
  made->state_ = reinterpret_cast<State*>(base);
  made->short_calls_.emplace(*made->meeting_, made->state_->missed_call);
  made->buffers_ = base + kStateBytes;
  made->bits_ = made->buffers_ + all_windows;
  return made;
}

bool NodeWindows::is_true_anywhere(Comm& comm, bool mine) {
  const int64_t word = mine ? 1 : 0;
  const auto all = meeting_->exchange(comm, std::span(&word, 1));
  return std::any_of(all.begin(), all.end(), [](int64_t one) { return one != 0; });
}

std::atomic<uint64_t>* NodeWindows::bits(int slot) const {
  static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));
  return reinterpret_cast<std::atomic<uint64_t>*>(bits_ + slot * window_bytes_ / kBitsAByte);
}

}  // namespace stria::access
