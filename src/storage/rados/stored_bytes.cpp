#include "storage/rados/stored_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace stria::storage {

namespace {

// Removing a file takes an operation for each object below its reach.
constexpr int64_t kMostObjects = int64_t{1} << 26;

}  // namespace

StoredBytes::StoredBytes(std::shared_ptr<const Pool> pool, uint64_t number, const Header& header)
    : pool_(std::move(pool)),
      number_(number),
      object_bytes_(header.object_bytes),
      known_bytes_(header.size_bytes),
      known_reach_(header.reach) {}

Result<Header> StoredBytes::header() {
  STRIA_ASSIGN_OR_RETURN(Header header, read_header(*pool_, number_));
  known_bytes_ = header.size_bytes;
  known_reach_ = header.reach;
  return header;
}

// The reach doubles, so that this is rare.
Status StoredBytes::reach_for(int64_t end) {
  STRIA_CHECK(end > 0, end);
  const int64_t needed = (end - 1) / object_bytes_ + 1;
  if (needed <= known_reach_) {
    return {};
  }
  if (needed > kMostObjects) {
    return Status::from_errno(
        EFBIG, fmt::format("byte {} is beyond object {} of {} bytes (hint striping_unit makes them larger)", end, kMostObjects,
                           object_bytes_));
  }
  const auto reach = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(needed)));
  STRIA_RETURN_IF_ERROR(raise_reach(*pool_, number_, reach));
  known_reach_ = reach;
  return {};
}

Status StoredBytes::write(std::span<const WriteSegment> segments, int64_t end) {
  STRIA_RETURN_IF_ERROR(reach_for(end));
  {
    const RunList list = make_runs(segments, std::numeric_limits<int64_t>::max());
    Flight flight(*pool_);
    add_writes(flight, objects(), list);
    if (end <= known_bytes_) {
      // The size that is known may be that of before a cut; a file may also have gone.
      STRIA_RETURN_IF_ERROR(header().status());
    }
    STRIA_RETURN_IF_ERROR(flight.wait());
  }
  if (end > known_bytes_) {
    STRIA_RETURN_IF_ERROR(raise_size(*pool_, number_, end));
    known_bytes_ = end;
  }
  return {};
}

// The size is asked for in any case; what is known of it decides nothing.
Result<int64_t> StoredBytes::read(std::span<const ReadSegment> segments, int64_t end) {
  STRIA_CHECK(end > 0, end);
  STRIA_ASSIGN_OR_RETURN(const Header now, header());
  std::vector<ReadSegment> within;
  int64_t total = 0;
  if (end > now.size_bytes) {
    for (const ReadSegment& segment : segments) {
      const int64_t bytes = std::clamp<int64_t>(now.size_bytes - segment.offset, 0, segment.bytes);
      within.push_back({segment.offset, segment.data, bytes});
    }
    segments = within;
  }
  for (const ReadSegment& segment : segments) {
    total += segment.bytes;
  }
  const RunList list = make_runs(segments, std::numeric_limits<int64_t>::max());
  Flight flight(*pool_);
  add_reads(flight, objects(), list);
  STRIA_RETURN_IF_ERROR(flight.wait());
  return total;
}

Result<int64_t> StoredBytes::size() {
  STRIA_ASSIGN_OR_RETURN(const Header now, header());
  return now.size_bytes;
}

Status StoredBytes::resize(int64_t bytes) {
  STRIA_CHECK(bytes >= 0, bytes);
  STRIA_ASSIGN_OR_RETURN(const Header now, header());
  if (bytes < now.size_bytes) {
    STRIA_RETURN_IF_ERROR(cut_data(*pool_, number_, now, bytes));
  }
  known_bytes_ = bytes;
  return set_size(*pool_, number_, bytes);
}

}  // namespace stria::storage
