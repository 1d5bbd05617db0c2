#include "access/together/exchange/round_lists.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.hpp"

namespace stria::access {

namespace {

// The most bytes that a piece's step and length, or a stream's numbers, take.
constexpr int64_t kMostPieceBytes = 20;
constexpr int64_t kMostStreamBytes = 256;

}  // namespace

namespace {

// What the contributor has counted, and the aggregator finds.
[[maybe_unused]] int64_t bytes_in_windows(std::span<const LaneDescription> pieces, std::span<const Window> windows) {
  std::vector<std::pair<size_t, Overlap>> parts;
  return overlaps_in(pieces, windows, parts);
}

}  // namespace

Status RoundLists::allocate(const FileDomains& domains) {
  if (contacts_.most_pieces() == 0) {
    return Status();
  }
  const int64_t pieces = std::min(contacts_.most_pieces(), domains.buffer_bytes());
  // A stream can meet each of them. The first round has as many as any other, except for a cut one.
  size_t windows = lane_count_;
  const int me = contacts_.my_index();
  memory_.attempt([&] { windows = std::max(windows, me >= 0 ? domains.windows_of(me, 0).size() : 0); });
  const int64_t bytes = pieces * kMostPieceBytes + (static_cast<int64_t>(windows) + 2) * kMostStreamBytes;
  STRIA_ASSIGN_OR_RETURN(incoming_, PrivateMemory::allocate(bytes));
  return Status();
}

// All ranks send before any rank receives, and wait for nothing else in between. So a rank in the
// earliest round can always go on.
Status RoundLists::exchange(const FileDomains& domains, int round, const Parted& parted) {
  withheld_.clear();
  const int me = contacts_.my_index();
  for (int a : contacts_.met()) {
    if (contacts_.is_by_round() && a != me && !parted.aggregators.contains(contacts_.rank_of(a))) {
      send_pieces(domains, a, round);
    }
  }
  Status status;
  const std::vector<Window> windows =
      memory_.surely([&] { return me >= 0 ? domains.windows_of(me, round) : std::vector<Window>(); });
  for (Contributor& contributor : contacts_.contributors()) {
    contributor.pieces.clear();
    contributor.bytes = 0;
    if (contributor.by_round && !parted.speakers.contains(contributor.rank)) {
      Status received = receive_pieces(contributor, windows);
      status.update(std::move(received));
    }
  }
  return status;
}

// Sends two numbers, the sizes of the message and of the bytes that it describes, and the message
// where there are any.
void RoundLists::send_pieces(const FileDomains& domains, int aggregator, int round) {
  const int rank = contacts_.rank_of(aggregator);
  Share hull;
  memory_.surely([&] {
    hull = Share();
    hull.windows = domains.windows_of(aggregator, round);
    hull.collect(contacts_.hulls());
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
    share.collect(contacts_.mine());
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

std::vector<std::byte> RoundLists::encode_pieces(const Share& share) const {
  std::vector<Lane> lanes(lane_count_);
  std::vector<int> chosen;
  for (const auto& [w, overlap] : share.parts) {
    const int lane = share.windows[w].lane;
    auto part = part_of(*overlap.stream, overlap.begin, overlap.end);
    if (!part.ok()) {
      throw std::bad_alloc();  // the offsets of the whole were valid, so nothing else can be wrong
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

Status RoundLists::receive_pieces(Contributor& contributor, const std::vector<Window>& windows) {
  Share hull;
  memory_.surely([&] {
    hull = Share();
    hull.windows = windows;
    hull.collect(contributor.lanes);
  });
  if (hull.bytes == 0) {
    return Status();
  }
  int64_t sizes[] = {0, 0};
  mailbox_.receive(std::as_writable_bytes(std::span(sizes)), contributor.rank, kPiecesTag);
  // allocate() has seen how many pieces are to come.
  STRIA_CHECK(
      0 <= sizes[0] && sizes[0] <= static_cast<int64_t>(incoming_.bytes().size()) && 0 <= sizes[1] && sizes[1] <= hull.bytes,
      sizes[0], sizes[1], hull.bytes, incoming_.bytes().size(), contributor.rank);
  contributor.bytes = sizes[1];
  if (sizes[0] == 0) {
    return Status();
  }
  const std::span<std::byte> message = incoming_.bytes().first(static_cast<size_t>(sizes[0]));
  mailbox_.receive(message, contributor.rank, kPiecesTag);
  Status status = Status(ErrorCode::kResourceExhausted, "out of memory in a collective operation");
  memory_.attempt([&] {
    auto pieces = decode_description(message, static_cast<int>(lane_count_));
    status = pieces.status();
    if (pieces.ok()) {
      contributor.pieces = std::move(*pieces);
      STRIA_ASSERT(bytes_in_windows(contributor.pieces, windows) == sizes[1], sizes[1], contributor.rank, windows.size());
    }
  });
  return status;
}

}  // namespace stria::access
