// Describes how a file's bytes are dealt out to servers, and which of them belong to one server.
//
// Stripe k of the file lies on slot k modulo the number of slots; a slot keeps its stripes one
// after another, without gaps. So the bytes of one slot in any range of the file are one range of
// the slot's: two divisions, no list.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/byte_range.hpp"

namespace stria::wire {

inline constexpr int64_t kMinStripeBytes = 4096;
inline constexpr int64_t kMaxStripeBytes = int64_t{1} << 30;
inline constexpr int kMaxSlots = 4096;

// A server may have two parts of a file, since a part that has to leave its server may find none
// that has no part of the file yet. The second one has a number of its own, the file's with the
// highest bit set, by which that server keeps it and is asked for it. A list of a file's servers
// says so by a number that is beyond those of servers.

inline constexpr uint64_t kSecondPart = uint64_t{1} << 63;
inline constexpr uint64_t kMaxPlaces = 2 * kMaxSlots - 1;

constexpr int64_t place_on(int64_t server, bool second) {
  return server + (second ? kMaxSlots : 0);
}
constexpr int64_t server_of(int64_t place) {
  return place % kMaxSlots;
}
constexpr bool is_second(int64_t place) {
  return place >= kMaxSlots;
}
/// Returns the number by which the server of that place has the part of the file.
constexpr uint64_t part_number(uint64_t file, bool second) {
  return second ? file | kSecondPart : file;
}
constexpr uint64_t file_of_part(uint64_t part) {
  return part & ~kSecondPart;
}

struct Layout {
  int64_t stripe_bytes = 256 << 10;
  int64_t slot_count = 1;

  bool valid() const {
    return stripe_bytes >= kMinStripeBytes && stripe_bytes <= kMaxStripeBytes && slot_count >= 1 && slot_count <= kMaxSlots;
  }
  int64_t row_bytes() const { return stripe_bytes * slot_count; }
  int64_t slot_of(int64_t offset) const { return offset / stripe_bytes % slot_count; }

  /// Returns how many of the file's first `offset` bytes lie on the slot: where the slot's next
  /// byte at or after `offset` is kept.
  int64_t below(int64_t slot, int64_t offset) const {
    const int64_t in_row = offset % row_bytes() - slot * stripe_bytes;
    return offset / row_bytes() * stripe_bytes + std::clamp<int64_t>(in_row, 0, stripe_bytes);
  }
  /// Returns the slot's part of a range of the file.
  ByteRange own(int64_t slot, ByteRange range) const { return {below(slot, range.begin), below(slot, range.end)}; }
  /// Returns where the slot's byte at `local` is in the file.
  int64_t place_of(int64_t slot, int64_t local) const {
    return local / stripe_bytes * row_bytes() + slot * stripe_bytes + local % stripe_bytes;
  }
  /// Returns the least size of a file of which the slot keeps `local_bytes`: a number that came
  /// from outside. No file is longer than 2^62 bytes and a row.
  int64_t file_bytes(int64_t slot, int64_t local_bytes) const {
    const int64_t most = (int64_t{1} << 62) / slot_count;
    return local_bytes == 0 ? 0 : place_of(slot, std::min(local_bytes, most) - 1) + 1;
  }
};

}  // namespace stria::wire
