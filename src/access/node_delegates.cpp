#include "access/node_delegates.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace stria::access {

namespace {

constexpr int kMeetTag = 32040;
constexpr size_t kBitsOfWord = 64;

// What of a window's bytes a description has.
int64_t bytes_in(std::span<const LaneDescription> description, std::span<const Window> windows) {
  std::vector<std::pair<size_t, Overlap>> parts;
  return overlaps_in(description, windows, parts);
}

}  // namespace

// A rank's part: a bit for each aggregator that it meets, and its description. Empty where the rank ran out of memory.
struct NodeDelegates::Board {
  std::shared_ptr<SharedBuffer> memory;
  size_t words = 0;  // of bits

  size_t header_bytes() const { return words * sizeof(uint64_t); }
  bool meets(size_t node_rank, int aggregator) const { return (word(node_rank, aggregator) >> bit(aggregator) & 1) != 0; }
  void mark(size_t node_rank, int aggregator) const {
    const uint64_t changed = word(node_rank, aggregator) | uint64_t{1} << bit(aggregator);
    std::memcpy(place(node_rank, aggregator), &changed, sizeof changed);
  }
  uint64_t word(size_t node_rank, int aggregator) const {
    uint64_t value = 0;
    if (!part(node_rank).empty()) {
      std::memcpy(&value, place(node_rank, aggregator), sizeof value);
    }
    return value;
  }
  std::span<std::byte> part(size_t node_rank) const { return memory->part(static_cast<int>(node_rank)); }

 private:
  static size_t bit(int aggregator) { return static_cast<size_t>(aggregator) % kBitsOfWord; }
  std::byte* place(size_t node_rank, int aggregator) const {
    return part(node_rank).data() + static_cast<size_t>(aggregator) / kBitsOfWord * sizeof(uint64_t);
  }
};

Status NodeDelegates::meet(std::span<const int> met, int aggregators, std::span<const Lane> mine) {
  if (comm_.node_size() == 1) {
    return Status();
  }
  Board board;
  board.words = (static_cast<size_t>(aggregators) + kBitsOfWord - 1) / kBitsOfWord;
  std::vector<std::byte> text;
  memory_.attempt([&] {
    std::vector<int> chosen;
    for (size_t lane = 0; lane < mine.size() && !met.empty(); ++lane) {
      if (!mine[lane].streams.empty()) {
        chosen.push_back(static_cast<int>(lane));
      }
    }
    text.resize(board.header_bytes());
    encode_description(mine, chosen, text);
  });
  if (memory_.ran_out()) {
    text.clear();
  }
  auto memory = comm_.allocate_shared(static_cast<int64_t>(text.size()));
  STRIA_RETURN_IF_ERROR(memory.status());
  board.memory = std::move(*memory);
  const auto me = static_cast<size_t>(comm_.node_rank());
  if (!text.empty()) {
    std::memcpy(board.part(me).data(), text.data(), text.size());
    for (int aggregator : met) {
      board.mark(me, aggregator);
    }
  }
  memory_.surely([&] {
    node_ranks_.clear();
    const auto nodes = comm_.node_of_rank();
    for (size_t rank = 0; rank < nodes.size(); ++rank) {
      if (nodes[rank] == nodes[static_cast<size_t>(comm_.rank())]) {
        node_ranks_.push_back(static_cast<int>(rank));
      }
    }
  });
  wait_for_node();
  for (int aggregator = 0; aggregator < aggregators && !gathers_; aggregator += static_cast<int>(kBitsOfWord)) {
    uint64_t once = 0;
    for (size_t node_rank = 0; node_rank < node_ranks_.size(); ++node_rank) {
      const uint64_t word = board.word(node_rank, aggregator);
      gathers_ = gathers_ || (once & word) != 0;
      once |= word;
    }
  }
  Status read;
  memory_.attempt([&] { read = read_board(board, met, static_cast<int>(mine.size())); });
  return read;
}

// Dissemination: in step k everybody tells the rank of the node that comes 2^k later.
void NodeDelegates::wait_for_node() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const size_t count = node_ranks_.size();
  const auto me = static_cast<size_t>(comm_.node_rank());
  for (size_t distance = 1; distance < count; distance *= 2) {
    auto sent = memory_.surely([&] { return comm_.send({}, node_ranks_[(me + distance) % count], kMeetTag); });
    auto come = memory_.surely([&] { return comm_.receive({}, node_ranks_[(me + count - distance) % count], kMeetTag); });
    comm_.wait(*come);
    comm_.wait(*sent);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// The delegate for an aggregator is one of those who meet it, another one for the next aggregator.
Status NodeDelegates::read_board(const Board& board, std::span<const int> met, int lane_count) {
  std::vector<size_t> meeting;
  for (int aggregator : met) {
    meeting.clear();
    for (size_t node_rank = 0; node_rank < node_ranks_.size(); ++node_rank) {
      if (board.meets(node_rank, aggregator)) {
        meeting.push_back(node_rank);
      }
    }
    if (meeting.size() < 2) {
      continue;
    }
    const int delegate = node_ranks_[meeting[static_cast<size_t>(aggregator) % meeting.size()]];
    if (delegate != comm_.rank()) {
      speakers_[aggregator] = delegate;
      continue;
    }
    Served served{aggregator, {}};
    for (size_t node_rank : meeting) {
      STRIA_ASSIGN_OR_RETURN(const Member* one, member(board, node_rank, lane_count));
      served.members.push_back(one);
    }
    served_.push_back(std::move(served));
  }
  return Status();
}

// Each is read once, however many aggregators this rank speaks to for it.
Result<const NodeDelegates::Member*> NodeDelegates::member(const Board& board, size_t node_rank, int lane_count) {
  const int rank = node_ranks_[node_rank];
  auto found = members_.find(rank);
  if (found == members_.end()) {
    STRIA_ASSIGN_OR_RETURN(auto lanes, decode_description(board.part(node_rank).subspan(board.header_bytes()), lane_count));
    found = members_.emplace(rank, Member{rank, std::move(lanes)}).first;
  }
  return &found->second;
}

Status NodeDelegates::allocate(const FileDomains* domains) {
  if (!gathers_) {
    return Status();
  }
  int64_t most = 0;
  memory_.attempt([&] {
    for (int round = 0; domains != nullptr && !served_.empty() && round < domains->round_count(); ++round) {
      int64_t bytes = 0;
      for (const Load& load : loads(*domains, round)) {
        bytes += load.bytes;
      }
      most = std::max(most, bytes);
    }
  });
  auto memory = comm_.allocate_shared(most);
  STRIA_RETURN_IF_ERROR(memory.status());
  staging_ = std::move(*memory);
  return Status();
}

int NodeDelegates::speaker(int aggregator) const {
  const auto found = speakers_.find(aggregator);
  return found == speakers_.end() ? comm_.rank() : found->second;
}

std::vector<Load> NodeDelegates::loads(const FileDomains& domains, int round) const {
  std::vector<Load> carried;
  std::vector<Window> windows;
  int64_t offset = 0;
  for (const Served& served : served_) {
    domains.windows(served.aggregator, round, windows);
    Load load{served.aggregator, {}, 0};
    bool others = false;
    for (const Member* member : served.members) {
      if (const int64_t bytes = bytes_in(member->lanes, windows); bytes > 0) {
        load.parts.push_back({member->rank, bytes, offset + load.bytes});
        load.bytes += bytes;
        others = others || member->rank != comm_.rank();
      }
    }
    if (others) {
      offset += load.bytes;
      carried.push_back(std::move(load));
    }
  }
  return carried;
}

std::byte* NodeDelegates::staging(int rank, int64_t offset) const {
  const auto place = std::lower_bound(node_ranks_.begin(), node_ranks_.end(), rank) - node_ranks_.begin();
  return staging_->part(static_cast<int>(place)).data() + offset;
}

}  // namespace stria::access
