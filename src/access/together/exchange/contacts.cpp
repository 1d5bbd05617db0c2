#include "access/together/exchange/contacts.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"

namespace stria::access {

namespace {

// A contributor's part of a description message: numbers before the description itself.
struct ContributorHeader {
  int64_t rank = 0;
  int64_t pieces = 0;  // to come with the rounds, or kWhole
  int64_t bytes = 0;   // the bytes of the description; 0: that of the previous contributor
};

// Returns the lanes by their numbers, as encode_description() wants them.
std::vector<Lane> by_number(std::span<const LaneDescription> description, size_t lane_count) {
  std::vector<Lane> lanes(lane_count);
  for (const LaneDescription& lane : description) {
    STRIA_CHECK(0 <= lane.lane && static_cast<size_t>(lane.lane) < lane_count, lane.lane, lane_count);
    lanes[static_cast<size_t>(lane.lane)].streams = lane.streams;
  }
  return lanes;
}

}  // namespace

size_t stream_count(std::span<const LaneDescription> description) {
  size_t count = 0;
  for (const LaneDescription& lane : description) {
    count += lane.streams.size();
  }
  return count;
}

Contacts::Contacts(Context& context, const ThroughAggregators& plan, std::span<const Lane> lanes, MemoryReserve& memory,
                   NodeDelegates& delegates)
    : context_(context), plan_(plan), lanes_(lanes), memory_(memory), delegates_(delegates) {
  const auto mine = std::find(plan.aggregators.begin(), plan.aggregators.end(), context.comm.rank());
  if (mine != plan.aggregators.end()) {
    my_index_ = static_cast<int>(mine - plan.aggregators.begin());
  }
}

// Long lists of single streams are sent by rounds. Where a lane has several streams, because tiles
// of a view interleave, lists are sent whole.
void Contacts::describe_own(bool already) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].streams.empty()) {
      mine_.emplace_back(static_cast<int>(i), lanes_[i].streams);
    }
  }
  if (already) {
    return;
  }
  int64_t entries = 0;
  bool single = true;
  for (const LaneDescription& lane : mine_) {
    entries += list_entries(lane);
    single = single && lane.streams.size() == 1;
  }
  by_round_ = single && entries > plan_.most_entries_at_once;
  if (!by_round_) {
    return;
  }
  for (const LaneDescription& lane : mine_) {
    Stream hull;
    hull.displacement = lane.hulls[0].begin;
    hull.file_type = Datatype::bytes(lane.hulls[0].size());
    hulls_.emplace_back(lane.lane, std::vector<Stream>{hull});
  }
}

Status Contacts::exchange(const FileDomains* domains) {
  domains_ = domains;
  Comm::Messages outgoing;
  if (domains != nullptr) {
    memory_.attempt([&] { find_met(*domains); });
  }
  Status status;
  if (plan_.gather_on_nodes && plan_.shared_memory) {
    status = gather_on_node();
  }
  memory_.attempt([&] { describe_to_aggregators(outgoing); });
  if (memory_.ran_out()) {
    outgoing.clear();
  }
  Comm::Messages incoming;
  memory_.attempt([&] { incoming = context_.comm.sparse_exchange(outgoing); });
  memory_.attempt([&] {
    outgoing.clear();
    status.update(decode(incoming));
    add_own();
  });
  status.update(delegates_.allocate(domains));
  return status;
}

Status Contacts::take(const FileDomains* domains, const GatheredRequests& gathered) {
  Status status;
  if (domains == nullptr) {
    return status;
  }
  domains_ = domains;
  memory_.attempt([&] {
    find_met(*domains);
    const int me = context_.comm.rank();
    for (int rank = 0; my_index_ >= 0 && status.ok() && rank < gathered.size(); ++rank) {
      auto lanes = rank == me ? Result<std::vector<LaneDescription>>(mine_)
                              : decode_description(gathered.description(rank), static_cast<int>(lanes_.size()));
      status.update(lanes.status());
      if (lanes.ok() && !met_lanes(my_index_, *lanes).empty()) {
        contributors_.push_back({.rank = rank, .speaker = rank, .lanes = std::move(*lanes)});
      }
    }
  });
  return status;
}

void Contacts::find_met(const FileDomains& domains) {
  for (const LaneDescription& lane : mine_) {
    for (const ByteRange hull : lane.hulls) {
      const auto [first, last] = domains.around(lane.lane, hull);
      for (int a = first; a < last; ++a) {
        if (domains.meets(a, lane.lane, hull)) {
          met_.push_back(a);
        }
      }
    }
  }
  std::sort(met_.begin(), met_.end());
  met_.erase(std::unique(met_.begin(), met_.end()), met_.end());
}

std::vector<int> Contacts::met_lanes(int aggregator, std::span<const LaneDescription> lanes) const {
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
Status Contacts::gather_on_node() {
  std::vector<int> elsewhere;
  memory_.attempt([&] {
    const auto nodes = context_.comm.node_of_rank();
    const int node = nodes[static_cast<size_t>(context_.comm.rank())];
    for (int a : met_) {
      if (!by_round_ && nodes[static_cast<size_t>(rank_of(a))] != node) {
        elsewhere.push_back(a);
      }
    }
  });
  return delegates_.meet(elsewhere, static_cast<int>(plan_.aggregators.size()), lanes_);
}

void Contacts::describe_to_aggregators(Comm::Messages& outgoing) {
  for (int a : met_) {
    if (a != my_index_ && delegates_.speaker(a) == context_.comm.rank()) {
      outgoing.emplace_back(rank_of(a), describe(a));
    }
  }
}

// Returns what this rank tells an aggregator about itself and the ranks for which it speaks.
std::vector<std::byte> Contacts::describe(int aggregator) {
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
    STRIA_CHECK(found->members.size() == found->repeats.size() && found->members.size() > 1, aggregator, found->members.size(),
                found->repeats.size());
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

Status Contacts::decode(Comm::Messages& incoming) {
  Status status;
  for (auto& [rank, message] : incoming) {
    status.update(decode_contributors(rank, message));
    message = {};
  }
  return status;
}

// An aggregator has its own description already.
void Contacts::add_own() {
  if (std::find(met_.begin(), met_.end(), my_index_) == met_.end()) {
    return;
  }
  const int me = context_.comm.rank();
  const auto place =
      std::find_if(contributors_.begin(), contributors_.end(), [me](const Contributor& c) { return c.speaker > me; });
  contributors_.insert(place, Contributor{.rank = me, .speaker = me, .lanes = mine_});
}

Status Contacts::decode_contributors(int speaker, std::span<const std::byte> message) {
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
        (repeats && (contributors_.empty() || contributors_.back().speaker != speaker))) {
      return Status(ErrorCode::kFormat, "file description names an impossible rank or size");
    }
    // A delegate speaks for ranks of its own node, each once and by rank.
    STRIA_ASSERT(context_.comm.node_of_rank()[static_cast<size_t>(header.rank)] ==
                         context_.comm.node_of_rank()[static_cast<size_t>(speaker)] &&
                     (contributors_.empty() || contributors_.back().speaker < speaker ||
                      (contributors_.back().speaker == speaker && contributors_.back().rank < header.rank)),
                 header.rank, speaker, contributors_.size());
    Contributor contributor;
    contributor.rank = static_cast<int>(header.rank);
    contributor.speaker = speaker;
    contributor.repeats = repeats;
    contributor.by_round = header.pieces != kWhole;
    most_pieces_ = std::max(most_pieces_, header.pieces);
    if (repeats) {
      contributor.lanes = contributors_.back().lanes;
    } else {
      const auto description = message.first(static_cast<size_t>(header.bytes));
      STRIA_ASSIGN_OR_RETURN(contributor.lanes, decode_description(description, static_cast<int>(lanes_.size())));
    }
    contributors_.push_back(std::move(contributor));
    message = message.subspan(static_cast<size_t>(header.bytes));
  }
  return Status();
}

bool Contacts::shares_memory(int other_rank) const {
  auto nodes = context_.comm.node_of_rank();
  const int me = context_.comm.rank();
  return other_rank == me || (plan_.shared_memory && nodes[static_cast<size_t>(other_rank)] == nodes[static_cast<size_t>(me)]);
}

size_t Contacts::stream_count() const {
  size_t streams = access::stream_count(mine_);
  for (const Contributor& contributor : contributors_) {
    streams += access::stream_count(contributor.lanes);
  }
  for (const NodeDelegates::Served& served : delegates_.served()) {
    for (const NodeDelegates::Member* member : served.members) {
      streams += access::stream_count(member->lanes);
    }
  }
  return streams;
}

}  // namespace stria::access
