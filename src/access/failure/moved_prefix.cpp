#include "access/failure/moved_prefix.hpp"

#include <utility>

#include "access/request/overlap.hpp"
#include "base/check.hpp"

namespace stria::access {

void MovedPrefix::miss(const Stream& stream, int64_t position) {
  STRIA_ASSERT(position >= 0, stream.stream_id, position);
  if (position < stream.size() && std::pair(stream.stream_id, position) < std::pair(stream_id_, position_)) {
    stream_id_ = stream.stream_id;
    position_ = position;
  }
}

void MovedPrefix::miss_behind(std::span<const Stream> streams, int64_t file_offset) {
  for (const Stream& stream : streams) {
    miss(stream, position_of(stream, file_offset));
  }
}

int64_t MovedPrefix::bytes(std::span<const Lane> lanes) const {
  int64_t sum = 0;
  for (const Lane& lane : lanes) {
    for (const Stream& stream : lane.streams) {
      sum += stream.stream_id < stream_id_ ? stream.size() : 0;
    }
  }
  STRIA_ASSERT(sum + position_ <= total_bytes(lanes), sum, position_, stream_id_);
  return sum + position_;
}

}  // namespace stria::access
