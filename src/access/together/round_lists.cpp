// The lists of pieces that come with each round, where a rank's description is too long to be
// sent as a whole.
#include <algorithm>
#include <cstring>
#include <set>

#include "access/together/aggregation.hpp"

namespace stria::access {

// Long lists of single streams are sent by rounds. Where a lane has several streams, which is where
// tiles of a view interleave, they are sent whole.
void Aggregation::choose_description() {
  if (gathered_ != nullptr) {
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

// Everybody sends before anybody receives, and nothing else is waited for in between: who is in the
// earliest round always goes on.
Status Aggregation::begin_round(int round, const std::set<int>& gone_aggregators, const std::set<int>& gone_contributors) {
  withheld_.clear();
  for (int a : met_) {
    if (by_round_ && a != my_index_ && !gone_aggregators.contains(plan_.aggregators[static_cast<size_t>(a)])) {
      send_pieces(a, round);
    }
  }
  Status status;
  const std::vector<Window> windows =
      memory_.surely([&] { return is_aggregator() ? my_windows(round) : std::vector<Window>(); });
  for (Contributor& contributor : others_) {
    contributor.pieces.clear();
    contributor.bytes = 0;
    if (contributor.by_round && !gone_contributors.contains(contributor.rank)) {
      Status received = receive_pieces(contributor, windows);
      status.update(std::move(received));
    }
  }
  return status;
}

// Two numbers, the sizes of the message and of the bytes that it describes, and the message where
// there are any.
void Aggregation::send_pieces(int aggregator, int round) {
  const int rank = plan_.aggregators[static_cast<size_t>(aggregator)];
  Share hull;
  memory_.surely([&] {
    hull = Share();
    domains_->windows(aggregator, round, hull.windows);
    collect(hulls_, rank, hull);
  });
  if (hull.bytes == 0) {
    return;
  }
  std::vector<std::byte> message;
  int64_t sizes[] = {0, 0};
  bool done = false;
  memory_.attempt([&] {
    Share share;
    share.windows = hull.windows;
    collect(mine_, rank, share);
    if (share.bytes > 0) {
      message = encode_pieces(share);
    }
    sizes[0] = static_cast<int64_t>(message.size());
    sizes[1] = share.bytes;
    done = true;
  });
  if (!done) {
    message = {};
    memory_.surely([&] {
      withheld_.insert(rank);
      withheld_from_.emplace(rank, round);
    });
  }
  auto header = memory_.surely([] { return std::vector<std::byte>(sizeof sizes); });
  std::memcpy(header.data(), sizes, sizeof sizes);
  mailbox_.post_bytes(std::move(header), rank, kPiecesTag);
  if (!message.empty()) {
    mailbox_.post_bytes(std::move(message), rank, kPiecesTag);
  }
}

std::vector<std::byte> Aggregation::encode_pieces(const Share& share) const {
  std::vector<Lane> lanes(lanes_.size());
  std::vector<int> chosen;
  for (const auto& [w, overlap] : share.parts) {
    const int lane = share.windows[w].lane;
    auto part = part_of(*overlap.stream, overlap.begin, overlap.end);
    if (!part.ok()) {
      throw std::bad_alloc();  // offsets were valid in the whole: nothing else can be wrong
    }
    if (chosen.empty() || chosen.back() != lane) {
      chosen.push_back(lane);
    }
    lanes[static_cast<size_t>(lane)].streams.push_back(std::move(*part));
  }
  std::vector<std::byte> message;
  encode_description(lanes, chosen, message);
  return message;
}

Status Aggregation::receive_pieces(Contributor& contributor, const std::vector<Window>& windows) {
  Share hull;
  memory_.surely([&] {
    hull = Share();
    hull.windows = windows;
    collect(contributor.lanes, contributor.rank, hull);
  });
  if (hull.bytes == 0) {
    return Status();
  }
  int64_t sizes[] = {0, 0};
  mailbox_.receive(std::as_writable_bytes(std::span(sizes)), contributor.rank, kPiecesTag);
  contributor.bytes = sizes[1];
  if (sizes[0] == 0) {
    return Status();
  }
  const std::span<std::byte> message = incoming_pieces_.bytes().first(static_cast<size_t>(sizes[0]));
  mailbox_.receive(message, contributor.rank, kPiecesTag);
  Status status = Status(ErrorCode::kResourceExhausted, "out of memory in a collective operation");
  memory_.attempt([&] {
    auto pieces = decode_description(message, static_cast<int>(lanes_.size()));
    status = pieces.status();
    if (pieces.ok()) {
      contributor.pieces = std::move(*pieces);
    }
  });
  return status;
}

}  // namespace stria::access
