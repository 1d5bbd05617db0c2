#include "access/together/exchange/delegates.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "access/request/message_tags.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

constexpr size_t kBitsOfWord = 64;

// Returns how many of the windows' bytes a description has.
int64_t bytes_in(std::span<const LaneDescription> description, std::span<const Window> windows) {
  std::vector<std::pair<size_t, Overlap>> parts;
  return overlaps_in(description, windows, parts);
}

}  // namespace

// A rank's part has the number of its bytes that are in use, a bit for each aggregator that the
// rank meets, and its description. A rank that ran out of memory has the first of these only.
struct NodeDelegates::Board {
  std::shared_ptr<SharedBuffer> memory;
  size_t words = 0;  // the words of bits

  size_t header_bytes() const { return sizeof(uint64_t) * (1 + words); }
  std::span<std::byte> whole_part(size_t node_rank) const { return memory->part(static_cast<int>(node_rank)); }
  bool meets(size_t node_rank, int aggregator) const { return (word(node_rank, aggregator) >> bit(aggregator) & 1) != 0; }
  uint64_t word(size_t node_rank, int aggregator) const {
    return used(node_rank) <= sizeof(uint64_t) ? 0 : number(node_rank, 1 + static_cast<size_t>(aggregator) / kBitsOfWord);
  }
  std::span<const std::byte> description(size_t node_rank) const {
    STRIA_CHECK(header_bytes() <= used(node_rank) && used(node_rank) <= whole_part(node_rank).size(), node_rank, header_bytes(),
                used(node_rank), whole_part(node_rank).size());
    return whole_part(node_rank).first(used(node_rank)).subspan(header_bytes());
  }
  /// Writes the bytes in front of a rank's description.
  static void write_header(std::span<const int> met, std::span<std::byte> text) {
    const uint64_t used = text.size();
    STRIA_CHECK(
        used >= sizeof used && (met.empty() || used >= sizeof used * (2 + static_cast<size_t>(met.back()) / kBitsOfWord)), used,
        met.size());
    std::memcpy(text.data(), &used, sizeof used);
    for (int aggregator : met) {
      std::byte* place = text.data() + sizeof(uint64_t) * (1 + static_cast<size_t>(aggregator) / kBitsOfWord);
      uint64_t value = 0;
      std::memcpy(&value, place, sizeof value);
      value |= uint64_t{1} << bit(aggregator);
      std::memcpy(place, &value, sizeof value);
    }
  }

 private:
  static size_t bit(int aggregator) { return static_cast<size_t>(aggregator) % kBitsOfWord; }
  uint64_t number(size_t node_rank, size_t index) const {
    uint64_t value = 0;
    std::memcpy(&value, whole_part(node_rank).data() + index * sizeof value, sizeof value);
    return value;
  }
  size_t used(size_t node_rank) const { return number(node_rank, 0); }
};

Status NodeDelegates::meet(std::span<const int> met, int aggregators, std::span<const Lane> mine) {
  if (comm_.node_size() == 1) {
    return Status();
  }
  find_node();
  Board board;
  board.words = (static_cast<size_t>(aggregators) + kBitsOfWord - 1) / kBitsOfWord;
  auto text = memory_.surely([] { return std::vector<std::byte>(sizeof(uint64_t)); });
  memory_.attempt([&] {
    std::vector<int> chosen;
    for (size_t lane = 0; lane < mine.size() && !met.empty(); ++lane) {
      if (!mine[lane].streams.empty()) {
        chosen.push_back(static_cast<int>(lane));
      }
    }
    std::vector<std::byte> whole(board.header_bytes());
    encode_description(mine, chosen, whole);
    text = std::move(whole);
  });
  Board::write_header(text.size() > sizeof(uint64_t) ? met : std::span<const int>(), text);
  STRIA_ASSIGN_OR_RETURN(board.memory, share(kept_ == nullptr ? nullptr : &kept_->board, text.size(), false));
  std::copy(text.begin(), text.end(), board.whole_part(static_cast<size_t>(comm_.node_rank())).begin());
  node_maximum(0);  // all ranks have written
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

void NodeDelegates::find_node() {
  const auto nodes = comm_.node_of_rank();
  memory_.surely([&] {
    node_ranks_.clear();
    for (size_t rank = 0; rank < nodes.size(); ++rank) {
      if (nodes[rank] == nodes[static_cast<size_t>(comm_.rank())]) {
        node_ranks_.push_back(static_cast<int>(rank));
      }
    }
  });
}

// Allocates `bytes` for this rank, or takes the memory of the operation before if every rank's
// part is large enough.
Result<std::shared_ptr<SharedBuffer>> NodeDelegates::share(std::shared_ptr<SharedBuffer>* kept, size_t bytes, bool payload) {
  if (kept != nullptr) {
    const bool fits = *kept != nullptr && (*kept)->part(comm_.node_rank()).size() >= bytes;
    if (node_maximum(fits ? 0 : 1) == 0) {
      return *kept;
    }
    kept->reset();
  }
  const auto size = static_cast<int64_t>(bytes);
  auto memory = comm_.allocate_shared({size, payload});
  if (kept != nullptr && memory.ok()) {
    *kept = *memory;
  }
  return memory;
}

// This is a barrier by dissemination: in step k every rank tells the one that comes 2^k later on
// the node. Afterwards every rank has come.
int64_t NodeDelegates::node_maximum(int64_t value) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const size_t count = node_ranks_.size();
  const auto me = static_cast<size_t>(comm_.node_rank());
  for (size_t distance = 1; distance < count; distance *= 2) {
    const int64_t told = value;
    int64_t heard = 0;
    auto sent = memory_.surely(
        [&] { return comm_.send(std::as_bytes(std::span(&told, 1)), node_ranks_[(me + distance) % count], kMeetTag); });
    auto come = memory_.surely([&] {
      return comm_.receive(std::as_writable_bytes(std::span(&heard, 1)), node_ranks_[(me + count - distance) % count],
                           kMeetTag);
    });
    comm_.wait(*come);
    comm_.wait(*sent);
    value = std::max(value, heard);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return value;
}

// The delegate for an aggregator is one of the ranks that meet it, and another one for the
// next aggregator.
Status NodeDelegates::read_board(const Board& board, std::span<const int> met, int lane_count) {
  std::vector<size_t> meeting;
  for (int aggregator : met) {
    meeting.clear();
    for (size_t node_rank = 0; node_rank < node_ranks_.size(); ++node_rank) {
      if (board.meets(node_rank, aggregator)) {
        meeting.push_back(node_rank);
      }
    }
    // This rank has told the others that it meets the aggregator.
    STRIA_ASSERT(std::find(meeting.begin(), meeting.end(), static_cast<size_t>(comm_.node_rank())) != meeting.end(), aggregator,
                 meeting.size());
    if (meeting.size() < 2) {
      continue;
    }
    const int delegate = node_ranks_[meeting[static_cast<size_t>(aggregator) % meeting.size()]];
    if (delegate != comm_.rank()) {
      speakers_[aggregator] = delegate;
      continue;
    }
    Served served{aggregator, {}, {}};
    for (size_t node_rank : meeting) {
      STRIA_ASSIGN_OR_RETURN(const Member* one, member(board, node_rank, lane_count));
      served.members.push_back(one);
      served.repeats.push_back(false);
    }
    served_.push_back(std::move(served));
  }
  return Status();
}

// Each member is read once, for however many aggregators this rank speaks for it.
Result<const NodeDelegates::Member*> NodeDelegates::member(const Board& board, size_t node_rank, int lane_count) {
  const int rank = node_ranks_[node_rank];
  auto found = members_.find(rank);
  if (found == members_.end()) {
    STRIA_ASSIGN_OR_RETURN(auto lanes, decode_description(board.description(node_rank), lane_count));
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
  STRIA_ASSIGN_OR_RETURN(staging_, share(kept_ == nullptr ? nullptr : &kept_->staging, static_cast<size_t>(most), true));
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
    Load load{served.aggregator, {}, offset, 0};
    bool others = false;
    for (size_t i = 0; i < served.members.size(); ++i) {
      const Member& member = *served.members[i];
      const bool repeats = reads_ && served.repeats[i];
      if (repeats && !load.parts.empty() && load.parts.back().rank == served.members[i - 1]->rank) {
        load.parts.push_back(load.parts.back());
        load.parts.back().rank = member.rank;
      } else if (const int64_t bytes = repeats ? 0 : bytes_in(member.lanes, windows); bytes > 0) {
        load.parts.push_back({member.rank, bytes, offset + load.bytes});
        load.bytes += bytes;
      } else {
        continue;
      }
      others = others || member.rank != comm_.rank();
    }
    if (others) {
      offset += load.bytes;
      carried.push_back(std::move(load));
    }
  }
  return carried;
}

std::byte* NodeDelegates::staging(int rank, int64_t offset, int64_t bytes) const {
  const auto place = std::lower_bound(node_ranks_.begin(), node_ranks_.end(), rank) - node_ranks_.begin();
  STRIA_CHECK(static_cast<size_t>(place) < node_ranks_.size() && node_ranks_[static_cast<size_t>(place)] == rank, rank);
  const std::span<std::byte> part = staging_->part(static_cast<int>(place));
  STRIA_CHECK(0 <= offset && 0 <= bytes && bytes <= static_cast<int64_t>(part.size()) - offset, offset, bytes, part.size(),
              rank);
  return part.data() + offset;
}

}  // namespace stria::access
