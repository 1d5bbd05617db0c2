#include "access/aggregation.hpp"

#include <algorithm>
#include <cstring>

#include "access/buffer.hpp"
#include "trace/phase_timer.hpp"

namespace stria::access {

Aggregation::Aggregation(Context& context, const TwoPhasePlan& plan, std::span<const Lane> lanes)
    : context_(context),
      plan_(plan),
      lanes_(lanes),
      domains_(lanes, static_cast<int>(plan.aggregators.size()),
               std::max<int64_t>(context.hints.collective_buffer_bytes / kTwins, 1), plan.unit_bytes) {
  auto mine = std::find(plan.aggregators.begin(), plan.aggregators.end(), context.comm.rank());
  if (mine != plan.aggregators.end()) {
    my_index_ = static_cast<int>(mine - plan.aggregators.begin());
  }
}

Status Aggregation::prepare() {
  PhaseTimer timer(context_.times, Phase::kExchange);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].streams.empty()) {
      mine_.emplace_back(static_cast<int>(i), lanes_[i].streams);
    }
  }
  twin_bytes_ = is_aggregator() ? align_up(domains_.buffer_bytes(), Buffer::kAlignmentBytes) : 0;
  auto shared = context_.comm.allocate_shared(twin_bytes_ * kTwins);
  Status status = shared.status();
  if (shared.ok()) {
    shared_ = *shared;
  }
  Status exchanged = exchange_descriptions();
  return context_.comm.agree(status.ok() ? exchanged : status);
}

Status Aggregation::exchange_descriptions() {
  std::vector<std::pair<int, std::vector<std::byte>>> outgoing;
  for (int a = 0; a < domains_.aggregator_count(); ++a) {
    std::vector<int> chosen;
    for (const LaneDescription& lane : mine_) {
      bool meets =
          std::any_of(lane.hulls.begin(), lane.hulls.end(), [&](ByteRange hull) { return domains_.meets(a, lane.lane, hull); });
      if (meets) {
        chosen.push_back(lane.lane);
      }
    }
    if (!chosen.empty()) {
      met_.push_back(a);
      outgoing.emplace_back(plan_.aggregators[static_cast<size_t>(a)], std::vector<std::byte>());
      encode_description(lanes_, chosen, outgoing.back().second);
    }
  }
  Status status;
  for (auto& [rank, message] : context_.comm.sparse_exchange(outgoing)) {
    auto description = decode_description(message, static_cast<int>(lanes_.size()));
    if (!description.ok()) {
      status = description.status();
      continue;
    }
    others_.emplace_back(rank, std::move(*description));
  }
  return status;
}

void Aggregation::collect(std::span<const LaneDescription> description, int other_rank, Share& share) {
  std::vector<Overlap> found;
  for (size_t w = 0; w < share.windows.size(); ++w) {
    const Window& window = share.windows[w];
    auto lane = std::lower_bound(description.begin(), description.end(), window.lane,
                                 [](const LaneDescription& entry, int number) { return entry.lane < number; });
    if (lane == description.end() || lane->lane != window.lane) {
      continue;
    }
    found.clear();
    overlaps(*lane, window.file, found);
    for (const Overlap& overlap : found) {
      share.parts.emplace_back(w, overlap);
      share.bytes += overlap.end - overlap.begin;
    }
  }
  auto nodes = context_.comm.node_of_rank();
  int me = context_.comm.rank();
  share.rank = other_rank;
  share.own = other_rank == me;
  share.shared = share.own || (plan_.shared_memory && nodes[static_cast<size_t>(other_rank)] == nodes[static_cast<size_t>(me)]);
}

std::vector<Aggregation::Share> Aggregation::my_shares(int round) {
  std::vector<Share> shares;
  for (int a : met_) {
    Share share;
    domains_.windows(a, round, share.windows);
    collect(mine_, plan_.aggregators[static_cast<size_t>(a)], share);
    if (share.bytes > 0) {
      shares.push_back(std::move(share));
    }
  }
  return shares;
}

std::vector<Aggregation::Share> Aggregation::contributors(int round) {
  std::vector<Share> shares;
  const std::vector<Window> windows = my_windows(round);
  for (const auto& [rank, description] : others_) {
    Share share;
    share.windows = windows;
    collect(description, rank, share);
    if (share.bytes > 0) {
      shares.push_back(std::move(share));
    }
  }
  return shares;
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
  for (const auto& [rank, description] : others_) {
    ranks.push_back(rank);
  }
  return ranks;
}

std::vector<Window> Aggregation::my_windows(int round) {
  std::vector<Window> windows;
  domains_.windows(my_index_, round, windows);
  return windows;
}

std::byte* Aggregation::buffer(int aggregator_rank, int round) {
  auto nodes = context_.comm.node_of_rank();
  int node_rank =
      static_cast<int>(std::count(nodes.begin(), nodes.begin() + aggregator_rank, nodes[static_cast<size_t>(aggregator_rank)]));
  std::span<std::byte> part = shared_->part(node_rank);
  return part.data() + static_cast<int64_t>(part.size()) / kTwins * (round % kTwins);
}

namespace {

std::vector<std::byte> token_bytes(int64_t value) {
  std::vector<std::byte> data(sizeof value);
  std::memcpy(data.data(), &value, sizeof value);
  return data;
}

}  // namespace

void Aggregation::post(std::vector<Posted>& list, std::vector<std::byte> data, int to, int tag) {
  list.push_back({std::move(data), nullptr});
  list.back().request = context_.comm.send(list.back().data, to, tag);
}

void Aggregation::wait_for(std::vector<Posted>& list) {
  for (Posted& message : list) {
    context_.comm.wait(*message.request);
  }
  list.clear();
}

void Aggregation::post_token(int to, int tag, int64_t value) {
  post(posted_, token_bytes(value), to, tag);
}
void Aggregation::post_lasting_token(int to, int tag, int64_t value) {
  post(lasting_, token_bytes(value), to, tag);
}
void Aggregation::post_bytes(std::vector<std::byte> data, int to, int tag) {
  post(posted_, std::move(data), to, tag);
}
void Aggregation::drain() {
  wait_for(posted_);
}
void Aggregation::finish() {
  wait_for(lasting_);
}

int64_t Aggregation::receive_token(int from, int tag) {
  int64_t value = 0;
  receive_bytes(std::as_writable_bytes(std::span(&value, 1)), from, tag);
  return value;
}

void Aggregation::receive_bytes(std::span<std::byte> data, int from, int tag) {
  auto request = context_.comm.receive(data, from, tag);
  context_.comm.wait(*request);
}

void scatter_to_window(const Overlap& overlap, const std::byte* packed, const Window& window, std::byte* buffer) {
  std::byte* base = buffer + window.buffer_offset;
  for_each_piece(overlap, [&](ByteRange piece, int64_t at) {
    std::memcpy(base + (piece.begin - window.file.begin), packed + at, static_cast<size_t>(piece.size()));
  });
}

void gather_from_window(const Overlap& overlap, const Window& window, const std::byte* buffer, std::byte* packed) {
  const std::byte* base = buffer + window.buffer_offset;
  for_each_piece(overlap, [&](ByteRange piece, int64_t at) {
    std::memcpy(packed + at, base + (piece.begin - window.file.begin), static_cast<size_t>(piece.size()));
  });
}

}  // namespace stria::access
