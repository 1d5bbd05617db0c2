#include "comm/mpi/small_gather.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "comm/yielding.hpp"

namespace stria {

namespace {

constexpr uint32_t kSets = 2;

}  // namespace

Result<std::unique_ptr<SmallGather>> SmallGather::create(Comm& comm, MPI_Comm world, int tag) {
  static_assert(std::atomic<uint32_t>::is_always_lock_free);
  const size_t bytes = sizeof(State) + kSets * kMostBytes;
  auto memory = comm.allocate_shared(comm.node_rank() == 0 ? static_cast<int64_t>(bytes) : 0);
  std::unique_ptr<SmallGather> made;
  Status status = memory.status();
  if (status.ok()) {
    try {
      if (comm.node_rank() == 0) {
        new ((*memory)->part(0).data()) State{};
      }
      made.reset(new SmallGather(comm, world, tag, *memory));
    } catch (const std::bad_alloc&) {
      status = Status(ErrorCode::kResourceExhausted, "no memory for small collective operations");
    }
  }
  // No rank looks before the memory is initialised.
  STRIA_RETURN_IF_ERROR(comm.agree(status));
  return made;
}

SmallGather::SmallGather(const Comm& comm, MPI_Comm world, int tag, std::shared_ptr<SharedBuffer> memory)
    : world_(world),
      tag_(tag),
      memory_(std::move(memory)),
      state_(reinterpret_cast<State*>(memory_->part(0).data())),
      is_first_(comm.node_rank() == 0),
      node_(static_cast<size_t>(comm.node_of_rank()[static_cast<size_t>(comm.rank())])),
      node_size_(static_cast<uint32_t>(comm.node_size())),
      node_rank_(static_cast<size_t>(comm.node_rank())),
      places_(static_cast<size_t>(comm.size())) {
  const auto nodes = comm.node_of_rank();
  std::iota(places_.begin(), places_.end(), 0);
  std::stable_sort(places_.begin(), places_.end(),
                   [&](int a, int b) { return nodes[static_cast<size_t>(a)] < nodes[static_cast<size_t>(b)]; });
  for (size_t place = 0; place < places_.size(); ++place) {
    const auto rank = static_cast<size_t>(places_[place]);
    if (static_cast<size_t>(nodes[rank]) == firsts_.size()) {
      firsts_.push_back(places_[place]);
      begins_.push_back(place);
    }
  }
  begins_.push_back(places_.size());
  if (is_first_) {
    held_.resize(kMostBytes);
  }
}

std::byte* SmallGather::set(uint32_t number) const {
  return reinterpret_cast<std::byte*>(state_ + 1) + number % kSets * kMostBytes;
}

// Returns the bytes of so many nodes from that one on; behind the last node follows the first.
size_t SmallGather::bytes_of(size_t first_node, size_t nodes, size_t bytes) const {
  const size_t end = first_node + nodes;
  const size_t count = firsts_.size();
  const size_t ranks =
      end <= count ? begins_[end] - begins_[first_node] : begins_[count] - begins_[first_node] + begins_[end - count];
  return ranks * bytes;
}

std::span<const std::byte> SmallGather::gather(Comm& comm, std::span<const std::byte> mine) {
  STRIA_CHECK(takes(mine.size()), mine.size(), places_.size());
  STRIA_ASSERT(comm.size() == static_cast<int>(places_.size()), comm.size(), places_.size());
  std::byte* const all = set(gatherings_);
  std::memcpy(all + node_rank_ * mine.size(), mine.data(), mine.size());
  ++gatherings_;
  // The counts wrap around together: no rank is more than one gathering ahead.
  const uint32_t arrived = state_->arrived.fetch_add(1) + 1;
  STRIA_CHECK(arrived - (gatherings_ - 1) * node_size_ <= node_size_, arrived, gatherings_, node_size_);
  if (!is_first_) {
    if (arrived == gatherings_ * node_size_) {
      comm.wake(state_->arrived);
    }
    wait_until(comm, state_->ended, gatherings_);
    return {all, mine.size() * places_.size()};
  }
  wait_until(comm, state_->arrived, gatherings_ * node_size_);
  std::memcpy(held_.data(), all, node_size_ * mine.size());
  exchange_with_nodes(comm, mine.size());
  put_in_rank_order(all, mine.size());
  state_->ended.store(gatherings_);
  comm.wake(state_->ended);
  return {all, mine.size() * places_.size()};
}

void SmallGather::wait_until(Comm& comm, std::atomic<uint32_t>& word, uint32_t value) const {
  if (yield_until(comm, [&] { return word.load() == value; })) {
    return;
  }
  for (uint32_t seen = word.load(); seen != value; seen = word.load()) {
    comm.wait_while(word, seen);
  }
}

void SmallGather::exchange_with_nodes(Comm& comm, size_t bytes) {
  const size_t count = firsts_.size();
  for (size_t nodes = 1; nodes < count; nodes *= 2) {
    const size_t given = std::min(nodes, count - nodes);
    const size_t from = (node_ + nodes) % count;
    const size_t to = (node_ + count - nodes) % count;
    const size_t have = bytes_of(node_, nodes, bytes);
    STRIA_CHECK(have + bytes_of(from, given, bytes) <= held_.size(), have, from, given, bytes, held_.size());
    MPI_Request arriving = MPI_REQUEST_NULL;
    MPI_Request leaving = MPI_REQUEST_NULL;
    MPI_Irecv(held_.data() + have, static_cast<int>(bytes_of(from, given, bytes)), MPI_BYTE, firsts_[from], tag_, world_,
              &arriving);
    MPI_Isend(held_.data(), static_cast<int>(bytes_of(node_, given, bytes)), MPI_BYTE, firsts_[to], tag_, world_, &leaving);
    wait_for_message(comm, arriving);
    wait_for_message(comm, leaving);
  }
}

void SmallGather::wait_for_message(Comm& comm, MPI_Request& request) const {
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  for (int attempt = 0; done == 0; ++attempt) {
    comm.pause(attempt);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

void SmallGather::put_in_rank_order(std::byte* all, size_t bytes) const {
  const std::byte* next = held_.data();
  for (size_t i = 0; i < places_.size(); ++i) {
    const size_t place = (begins_[node_] + i) % places_.size();
    std::memcpy(all + static_cast<size_t>(places_[place]) * bytes, next, bytes);
    next += bytes;
  }
}

}  // namespace stria
