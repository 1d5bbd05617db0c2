#include "access/together/axes/relayed.hpp"

#include <algorithm>
#include <utility>

#include "access/together/domains/description.hpp"
#include "base/check.hpp"

namespace stria::access {

namespace {

void sort_by_first_offset(std::vector<Stream>& streams) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (size_t i = 0; i < streams.size(); ++i) {
    order.emplace_back(hull_of(streams[i]).begin, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Stream> sorted;
  sorted.reserve(streams.size());
  for (const auto& [first, i] : order) {
    sorted.push_back(std::move(streams[i]));
  }
  streams = std::move(sorted);
}

}  // namespace

Relayed::Relayed(std::span<const Lane> lanes) {
  for (const Lane& lane : lanes) {
    lanes_.push_back({lane.hull, lane.group, {}});
  }
}

Status Relayed::take(Comm::Messages& arrived, int rank_count, int column_count, bool with_bytes) {
  for (auto& [sender, message] : arrived) {
    STRIA_ASSIGN_OR_RETURN(const std::vector<Parcel> parcels, parcels_of(message, rank_count, column_count));
    for (const Parcel& parcel : parcels) {
      STRIA_RETURN_IF_ERROR(add(sender, parcel, with_bytes));
    }
  }
  for (Lane& lane : lanes_) {
    sort_by_first_offset(lane.streams);
  }
  return {};
}

Status Relayed::add(int sender, const Parcel& parcel, bool with_bytes) {
  STRIA_ASSIGN_OR_RETURN(std::vector<LaneDescription> described,
                         decode_description(parcel.description, static_cast<int>(lanes_.size())));
  int64_t bytes = 0;
  for (const LaneDescription& lane : described) {
    for (const Stream& stream : lane.streams) {
      bytes += stream.size();
    }
  }
  if (with_bytes && bytes != parcel.header.payload_bytes) {
    return {ErrorCode::kFormat, "a parcel between ranks has other bytes than it describes"};
  }
  if (!with_bytes) {
    memory_.push_back(std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes)));
  }
  std::byte* place = with_bytes ? parcel.payload.data() : memory_.back().get();
  const size_t first = places_.size();
  for (LaneDescription& lane : described) {
    for (Stream& stream : lane.streams) {
      stream.stream_id = static_cast<int>(places_.size());
      places_.push_back(place);
      got_.push_back(0);
      place += stream.size();
      lanes_[static_cast<size_t>(lane.lane)].streams.push_back(std::move(stream));
    }
  }
  STRIA_CHECK(places_.size() == got_.size(), places_.size(), got_.size());
  asked_.push_back({sender, parcel.header, first, places_.size(), bytes});
  return {};
}

void Relayed::pack(std::span<const StreamPart> parts) {
  for (const StreamPart& part : parts) {
    STRIA_CHECK(0 <= part.stream_id && static_cast<size_t>(part.stream_id) < places_.size(), part.stream_id, places_.size());
    std::memcpy(part.packed, places_[static_cast<size_t>(part.stream_id)] + part.begin,
                static_cast<size_t>(part.end - part.begin));
  }
}

// A stream that the file's end cuts brings the bytes before it, and no others.
void Relayed::unpack(std::span<const StreamPart> parts) {
  for (const StreamPart& part : parts) {
    const auto number = static_cast<size_t>(part.stream_id);
    STRIA_CHECK(0 <= part.stream_id && number < places_.size(), part.stream_id, places_.size());
    std::memcpy(places_[number] + part.begin, part.packed, static_cast<size_t>(part.end - part.begin));
    got_[number] += part.end - part.begin;
  }
}

void Relayed::answer(Outbox& outbox) const {
  for (const Asked& asked : asked_) {
    const auto counts = std::as_bytes(std::span(got_).subspan(asked.first, asked.end - asked.first));
    const ParcelHeader header{.origin = asked.header.origin,
                              .column = asked.header.column,
                              .description_bytes = static_cast<int64_t>(counts.size()),
                              .payload_bytes = asked.bytes};
    std::vector<std::byte>& message = outbox[asked.sender];
    const size_t at = append_parcel(header, counts, message);
    if (asked.bytes > 0) {
      std::memcpy(message.data() + at, places_[asked.first], static_cast<size_t>(asked.bytes));
    }
  }
}

}  // namespace stria::access
