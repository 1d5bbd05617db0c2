#include "access/together/aggregation.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "access/request/overlap.hpp"
#include "base/buffer.hpp"
#include "trace/phase_timer.hpp"

namespace stria::access {

namespace {

// A piece's step and length, and a stream's numbers, as they are written at most.
constexpr int64_t kMostPieceBytes = 20;
constexpr int64_t kMostStreamBytes = 256;

// The lists of a round have an entry for each stream and window that meet; so many bytes of them
// are sure to be had.
constexpr size_t kReserveBytes = 1 << 20;
constexpr size_t kReserveBytesPerStream = 256;

// A contributor's part of a description message: numbers before the description itself.
struct ContributorHeader {
  int64_t rank = 0;
  int64_t pieces = 0;  // to come with the rounds, or kWhole
  int64_t bytes = 0;   // of the description; none: that of the contributor before
};

size_t stream_count(std::span<const LaneDescription> description) {
  size_t count = 0;
  for (const LaneDescription& lane : description) {
    count += lane.streams.size();
  }
  return count;
}

// The most that one side can bring, or want, in a round. Streams of a lane may overlap, where a
// rank reads bytes twice.
int64_t most_bytes(std::span<const LaneDescription> description, int64_t buffer_bytes) {
  int64_t all_bytes = 0;
  int64_t most_streams = 0;
  for (const LaneDescription& lane : description) {
    most_streams = std::max(most_streams, static_cast<int64_t>(lane.streams.size()));
    for (const Stream& stream : lane.streams) {
      all_bytes += stream.size();
    }
  }
  return most_streams > all_bytes / buffer_bytes ? all_bytes : most_streams * buffer_bytes;
}

// The lanes by their numbers, as encode_description() wants them.
std::vector<Lane> by_number(std::span<const LaneDescription> description, size_t lane_count) {
  std::vector<Lane> lanes(lane_count);
  for (const LaneDescription& lane : description) {
    lanes[static_cast<size_t>(lane.lane)].streams = lane.streams;
  }
  return lanes;
}

}  // namespace

Aggregation::Aggregation(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, const Options& options)
    : context_(context),
      plan_(plan),
      kept_(options.kept),
      gathered_(options.gathered),
      lanes_(lanes),
      delegates_(context.comm, memory_, {.reads = options.reads, .kept = options.kept}) {
  auto mine = std::find(plan.aggregators.begin(), plan.aggregators.end(), context.comm.rank());
  if (mine != plan.aggregators.end()) {
    my_index_ = static_cast<int>(mine - plan.aggregators.begin());
  }
}

Status Aggregation::prepare() {
  PhaseTimer timer(context_.times, Phase::kExchange);
  memory_.attempt([&] {
    domains_.emplace(lanes_, static_cast<int>(plan_.aggregators.size()), asked_bytes(), plan_.unit_bytes, plan_.stripe_count);
    number_node_ranks();
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (!lanes_[i].streams.empty()) {
        mine_.emplace_back(static_cast<int>(i), lanes_[i].streams);
      }
    }
    choose_description();
  });
  Status allocated = allocate_buffers();
  Status exchanged = gathered_ == nullptr ? exchange_descriptions() : take_gathered();
  Status incoming = allocate_incoming();
  for (const Status& status : {memory_.status(), allocated, exchanged}) {
    if (!status.ok()) {
      incoming = status;
    }
  }
  Status agreed = context_.comm.agree(incoming);
  if (!agreed.ok() && kept_ != nullptr) {
    kept_->memory.reset();
  }
  return agreed;
}

int64_t Aggregation::asked_bytes() const {
  return std::max<int64_t>(context_.hints.collective_buffer_bytes / kTwins, 1);
}

// What a kept buffer for one round has: enough for any request of these extents, told without the
// domains, so that ranks agree on it even where one of them is out of memory.
int64_t Aggregation::kept_bytes() const {
  int64_t longest = 0;
  for (const Lane& lane : lanes_) {
    longest = std::max(longest, lane.extent.size());
  }
  int64_t most = std::max(asked_bytes(), plan_.unit_bytes + 4 * Buffer::kAlignmentBytes);
  int64_t a_lane = longest + 2 * plan_.unit_bytes + 4 * Buffer::kAlignmentBytes;
  auto lanes = static_cast<int64_t>(lanes_.size());
  return a_lane < most / std::max<int64_t>(lanes, 1) ? lanes * a_lane : most;
}

// Takes the buffers of the operation before where they are large enough.
Status Aggregation::allocate_buffers() {
  if (kept_ != nullptr && kept_->memory != nullptr && kept_->bytes >= kept_bytes() && kept_->aggregators == plan_.aggregators) {
    shared_ = kept_->memory;
    return Status();
  }
  const bool serves = is_aggregator() && !memory_.ran_out();
  int64_t twin_bytes = kept_ != nullptr || !serves ? kept_bytes() : domains_->buffer_bytes();
  twin_bytes = align_up(twin_bytes, Buffer::kAlignmentBytes);
  auto shared = context_.comm.allocate_shared(serves ? twin_bytes * kTwins : 0);
  STRIA_RETURN_IF_ERROR(shared.status());
  shared_ = std::move(*shared);
  if (kept_ != nullptr) {
    memory_.attempt([&] {
      kept_->memory.reset();
      kept_->aggregators = plan_.aggregators;
      kept_->bytes = twin_bytes;
      kept_->memory = shared_;
    });
  }
  return Status();
}

// The place of each aggregator among the ranks of its node.
void Aggregation::number_node_ranks() {
  auto nodes = context_.comm.node_of_rank();
  std::set<int> wanted(plan_.aggregators.begin(), plan_.aggregators.end());
  std::vector<int> seen(static_cast<size_t>(*std::max_element(nodes.begin(), nodes.end())) + 1, 0);
  for (size_t rank = 0; rank < nodes.size(); ++rank) {
    int number = seen[static_cast<size_t>(nodes[rank])]++;
    if (wanted.contains(static_cast<int>(rank))) {
      node_rank_.emplace(static_cast<int>(rank), number);
    }
  }
}

Status Aggregation::exchange_descriptions() {
  Comm::Messages outgoing;
  memory_.attempt([&] { find_met(); });
  Status status;
  if (plan_.gather_on_nodes && plan_.shared_memory) {
    status = gather_on_node();
  }
  memory_.attempt([&] { describe_to_aggregators(outgoing); });
  if (memory_.ran_out()) {
    outgoing.clear();
  }
  auto incoming = context_.comm.sparse_exchange(outgoing);
  memory_.attempt([&] {
    outgoing.clear();
    for (auto& [rank, message] : incoming) {
      Status decoded = decode_contributors(rank, message);
      message = {};
      status.update(std::move(decoded));
    }
    // Its own description an aggregator has already.
    const int me = context_.comm.rank();
    if (std::find(met_.begin(), met_.end(), my_index_) != met_.end()) {
      const auto place = std::find_if(others_.begin(), others_.end(), [me](const Contributor& c) { return c.speaker > me; });
      others_.insert(place, Contributor{me, me, false, false, mine_, {}, 0});
    }
  });
  status.update(delegates_.allocate(domains_ ? &*domains_ : nullptr));
  return status;
}

// No message: each rank speaks for itself.
Status Aggregation::take_gathered() {
  Status status;
  memory_.attempt([&] {
    find_met();
    const int me = context_.comm.rank();
    for (int rank = 0; domains_ && is_aggregator() && status.ok() && rank < gathered_->size(); ++rank) {
      auto lanes = rank == me ? Result<std::vector<LaneDescription>>(mine_)
                              : decode_description(gathered_->description(rank), static_cast<int>(lanes_.size()));
      status.update(lanes.status());
      if (lanes.ok() && !met_lanes(my_index_, *lanes).empty()) {
        others_.push_back({.rank = rank, .speaker = rank, .lanes = std::move(*lanes)});
      }
    }
  });
  return status;
}

void Aggregation::find_met() {
  for (int a = 0; domains_ && a < domains_->aggregator_count(); ++a) {
    if (!met_lanes(a, mine_).empty()) {
      met_.push_back(a);
    }
  }
}

std::vector<int> Aggregation::met_lanes(int aggregator, std::span<const LaneDescription> lanes) const {
  std::vector<int> met;
  for (const LaneDescription& lane : lanes) {
    const bool meets = std::any_of(lane.hulls.begin(), lane.hulls.end(),
                                   [&](ByteRange hull) { return domains_->meets(aggregator, lane.lane, hull); });
    if (meets) {
      met.push_back(lane.lane);
    }
  }
  return met;
}

// A rank whose pieces come with the rounds speaks for itself.
Status Aggregation::gather_on_node() {
  std::vector<int> elsewhere;
  memory_.attempt([&] {
    const auto nodes = context_.comm.node_of_rank();
    const int node = nodes[static_cast<size_t>(context_.comm.rank())];
    for (int a : met_) {
      if (!by_round_ && nodes[static_cast<size_t>(plan_.aggregators[static_cast<size_t>(a)])] != node) {
        elsewhere.push_back(a);
      }
    }
  });
  return delegates_.meet(elsewhere, static_cast<int>(plan_.aggregators.size()), lanes_);
}

void Aggregation::describe_to_aggregators(Comm::Messages& outgoing) {
  for (int a : met_) {
    if (a != my_index_ && delegates_.speaker(a) == context_.comm.rank()) {
      outgoing.emplace_back(plan_.aggregators[static_cast<size_t>(a)], describe(a));
    }
  }
}

// What this rank tells an aggregator: of itself and of those that it speaks for.
std::vector<std::byte> Aggregation::describe(int aggregator) {
  std::vector<std::byte> message;
  std::vector<std::byte> last;
  const auto append = [&](int rank, int64_t pieces, std::span<const LaneDescription> lanes) {
    std::vector<std::byte> description;
    encode_description(by_number(lanes, lanes_.size()), met_lanes(aggregator, lanes), description);
    const bool repeats = description == last;
    const ContributorHeader header{rank, pieces, repeats ? 0 : static_cast<int64_t>(description.size())};
    const auto numbers = std::as_bytes(std::span(&header, 1));
    message.insert(message.end(), numbers.begin(), numbers.end());
    if (!repeats) {
      message.insert(message.end(), description.begin(), description.end());
      last = std::move(description);
    }
    return repeats;
  };
  auto& served = delegates_.served();
  const auto found =
      std::find_if(served.begin(), served.end(), [&](const auto& entry) { return entry.aggregator == aggregator; });
  if (found != served.end()) {
    for (size_t i = 0; i < found->members.size(); ++i) {
      found->repeats[i] = append(found->members[i]->rank, kWhole, found->members[i]->lanes);
    }
    return message;
  }
  int64_t pieces = 0;
  for (const LaneDescription& lane : mine_) {
    pieces += by_round_ ? std::min(lane.streams[0].file_type.piece_count(), lane.streams[0].size()) : 0;
  }
  append(context_.comm.rank(), by_round_ ? pieces : kWhole, by_round_ ? hulls_ : mine_);
  return message;
}

Status Aggregation::decode_contributors(int speaker, std::span<const std::byte> message) {
  while (!message.empty()) {
    ContributorHeader header;
    if (message.size() < sizeof header) {
      return Status(ErrorCode::kFormat, "file description is cut short");
    }
    std::memcpy(&header, message.data(), sizeof header);
    message = message.subspan(sizeof header);
    const bool repeats = header.bytes == 0;
    if (header.rank < 0 || header.rank >= context_.comm.size() || header.bytes < 0 ||
        static_cast<size_t>(header.bytes) > message.size() ||
        (repeats && (others_.empty() || others_.back().speaker != speaker))) {
      return Status(ErrorCode::kFormat, "file description names an impossible rank or size");
    }
    Contributor contributor;
    contributor.rank = static_cast<int>(header.rank);
    contributor.speaker = speaker;
    contributor.repeats = repeats;
    contributor.by_round = header.pieces != kWhole;
    most_pieces_ = std::max(most_pieces_, header.pieces);
    if (repeats) {
      contributor.lanes = others_.back().lanes;
    } else {
      const auto description = message.first(static_cast<size_t>(header.bytes));
      STRIA_ASSIGN_OR_RETURN(contributor.lanes, decode_description(description, static_cast<int>(lanes_.size())));
    }
    others_.push_back(std::move(contributor));
    message = message.subspan(static_cast<size_t>(header.bytes));
  }
  return Status();
}

// What the rounds will need, taken while a want of memory can still be agreed on.
Status Aggregation::allocate_incoming() {
  if (!domains_) {
    return Status();
  }
  size_t streams = stream_count(mine_);
  int64_t longest_bytes = 0;
  for (int aggregator : met_) {
    bool elsewhere = !shares_memory(plan_.aggregators[static_cast<size_t>(aggregator)]);
    longest_bytes = std::max(longest_bytes, elsewhere ? most_bytes(mine_, domains_->buffer_bytes()) : 0);
  }
  int64_t together_bytes = 0;  // of those with one speaker
  for (size_t i = 0; i < others_.size(); ++i) {
    const Contributor& other = others_[i];
    streams += stream_count(other.lanes);
    together_bytes = i > 0 && others_[i - 1].speaker == other.speaker ? together_bytes : 0;
    together_bytes += shares_memory(other.rank) ? 0 : most_bytes(other.lanes, domains_->buffer_bytes());
    longest_bytes = std::max(longest_bytes, together_bytes);
  }
  for (const NodeDelegates::Served& served : delegates_.served()) {
    for (const NodeDelegates::Member* member : served.members) {
      streams += stream_count(member->lanes);
    }
  }
  memory_.attempt([&] { memory_.set_aside(kReserveBytes + kReserveBytesPerStream * streams); });
  // Pages that no message fills are never made.
  STRIA_ASSIGN_OR_RETURN(incoming_, PrivateMemory::allocate(longest_bytes));
  if (most_pieces_ > 0) {
    const int64_t pieces = std::min(most_pieces_, domains_->buffer_bytes());
    // Each of which a stream can meet; the first round has as many as any other, but for a cut one.
    size_t windows = lanes_.size();
    memory_.attempt([&] { windows = std::max(windows, is_aggregator() ? my_windows(0).size() : 0); });
    const int64_t bytes = pieces * kMostPieceBytes + (static_cast<int64_t>(windows) + 2) * kMostStreamBytes;
    STRIA_ASSIGN_OR_RETURN(incoming_pieces_, PrivateMemory::allocate(bytes));
  }
  return Status();
}

bool Aggregation::shares_memory(int other_rank) const {
  auto nodes = context_.comm.node_of_rank();
  const int me = context_.comm.rank();
  return other_rank == me || (plan_.shared_memory && nodes[static_cast<size_t>(other_rank)] == nodes[static_cast<size_t>(me)]);
}

void Aggregation::collect(std::span<const LaneDescription> description, int other_rank, Share& share) {
  share.bytes = overlaps_in(description, share.windows, share.parts);
  share.rank = other_rank;
  share.own = other_rank == context_.comm.rank();
  share.shared = shares_memory(other_rank);
}

std::vector<Aggregation::Share> Aggregation::my_shares(int round) {
  return memory_.surely([&] {
    std::vector<Share> shares;
    for (int a : met_) {
      Share share;
      domains_->windows(a, round, share.windows);
      collect(mine_, plan_.aggregators[static_cast<size_t>(a)], share);
      share.speaker = delegates_.speaker(a);
      if (share.bytes > 0 && !withheld_.contains(share.rank)) {
        shares.push_back(std::move(share));
      }
    }
    return shares;
  });
}

std::vector<Aggregation::Share> Aggregation::contributors(int round) {
  return memory_.surely([&] {
    std::vector<Share> shares;
    const std::vector<Window> windows = my_windows(round);
    for (const Contributor& other : others_) {
      Share share;
      share.windows = windows;
      collect(other.by_round ? other.pieces : other.lanes, other.rank, share);
      share.speaker = other.speaker;
      share.repeats = other.repeats;
      // More than the parts have where they could not be taken in.
      share.bytes = other.by_round ? other.bytes : share.bytes;
      if (share.bytes > 0) {
        shares.push_back(std::move(share));
      }
    }
    return shares;
  });
}

std::vector<int> Aggregation::met_ranks() const {
  std::vector<int> ranks;
  for (int a : met_) {
    ranks.push_back(plan_.aggregators[static_cast<size_t>(a)]);
  }
  return ranks;
}

std::vector<int> Aggregation::contributor_ranks() const {
  std::vector<int> ranks;
  for (const Contributor& other : others_) {
    ranks.push_back(other.rank);
  }
  return ranks;
}

// Windows of a lane come by increasing offset, so that of a single stream the first bytes to be met
// are the first missing.
void Aggregation::miss_rounds(int aggregator_rank, int done_rounds, MovedPrefix& moved) {
  const auto place = std::find(plan_.aggregators.begin(), plan_.aggregators.end(), aggregator_rank);
  if (const auto withheld = withheld_from_.find(aggregator_rank); withheld != withheld_from_.end()) {
    done_rounds = std::min(done_rounds, withheld->second);
  }
  const bool single = stream_count(mine_) == 1;
  memory_.surely([&] {
    Share share;
    for (int round = done_rounds; round < round_count() && !(single && share.bytes > 0); ++round) {
      share.parts.clear();
      domains_->windows(static_cast<int>(place - plan_.aggregators.begin()), round, share.windows);
      collect(mine_, aggregator_rank, share);
      for (const auto& [w, overlap] : share.parts) {
        moved.miss(*overlap.stream, overlap.begin);
      }
    }
  });
}

std::vector<Load> Aggregation::loads(int round) {
  return memory_.surely([&] { return delegates_.loads(*domains_, round); });
}

bool Aggregation::is_parted(const std::set<int>& gone_aggregators, const std::set<int>& gone_speakers,
                            const Spoken& closed) const {
  const int me = context_.comm.rank();
  const auto is_gone = [me](int rank, const std::set<int>& gone) { return rank == me || gone.contains(rank); };
  const auto rank_of_index = [this](int a) { return plan_.aggregators[static_cast<size_t>(a)]; };
  const auto is_closed = [&](const NodeDelegates::Served& served) {
    return std::all_of(served.members.begin(), served.members.end(), [&](const NodeDelegates::Member* member) {
      return member->rank == me || closed.contains({rank_of_index(served.aggregator), member->rank});
    });
  };
  return std::all_of(met_.begin(), met_.end(), [&](int a) { return is_gone(rank_of_index(a), gone_aggregators); }) &&
         std::all_of(others_.begin(), others_.end(), [&](const Contributor& c) { return is_gone(c.speaker, gone_speakers); }) &&
         std::all_of(delegates_.served().begin(), delegates_.served().end(), is_closed);
}

std::vector<Window> Aggregation::my_windows(int round) {
  std::vector<Window> windows;
  domains_->windows(my_index_, round, windows);
  return windows;
}

std::byte* Aggregation::buffer(int aggregator_rank, int round) {
  std::span<std::byte> part = shared_->part(node_rank_.at(aggregator_rank));
  return part.data() + static_cast<int64_t>(part.size()) / kTwins * (round % kTwins);
}

std::span<std::byte> Aggregation::receive_bytes(int64_t bytes, int from, int tag) {
  std::span<std::byte> message = incoming_.bytes().first(static_cast<size_t>(bytes));
  mailbox_.receive(message, from, tag);
  return message;
}

void scatter_to_window(const Overlap& overlap, const std::byte* packed, const Window& window, std::byte* buffer) {
  scatter_pieces(*overlap.stream, overlap.begin, overlap.end, packed, buffer + window.buffer_offset, window.file.begin);
}

void gather_from_window(const Overlap& overlap, const Window& window, const std::byte* buffer, std::byte* packed) {
  gather_pieces(*overlap.stream, overlap.begin, overlap.end, buffer + window.buffer_offset, window.file.begin, packed);
}

}  // namespace stria::access
