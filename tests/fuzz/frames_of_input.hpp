// Frames out of any bytes, for the fuzz targets of servers and clients. A frame's checksums are
// made to fit, because no input would hit them by chance.
//
//   input = *( how kind body-bytes payload-bytes body payload )    ; u8, u8, u16, u16
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/hash.hpp"
#include "wire/form/codec.hpp"
#include "wire/frame.hpp"

namespace stria::testing {

/// Ends the program where the fuzz target itself could not do what it must.
inline void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// Bits of `how`; what each target does with them stands there.
inline constexpr uint8_t kMore = 1;     ///< the frame says that data go on
inline constexpr uint8_t kDamaged = 2;  ///< its payload has another sum
inline constexpr uint8_t kRaw = 4;      ///< the body's bytes in place of a frame
inline constexpr uint8_t kOther = 8;    ///< another kind or number than is expected
inline constexpr uint8_t kPlain = 16;   ///< nothing is put before the body

struct PlannedFrame {
  uint8_t how = 0;
  uint8_t kind = 0;
  std::span<const std::byte> body;
  std::span<const std::byte> payload;

  bool is(uint8_t bit) const { return (how & bit) != 0; }
  /// Header, `begin`, body and payload as they travel.
  std::vector<std::byte> bytes(wire::Kind as, uint64_t request, std::span<const std::byte> begin = {}) const {
    std::vector<std::byte> whole(begin.begin(), begin.end());
    whole.insert(whole.end(), body.begin(), body.end());
    wire::Header header;
    header.kind = as;
    header.request = request;
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    header.payload_sum = payload.empty() ? 0 : hash_bytes(payload) + (is(kDamaged) ? 1 : 0);
    header.more = is(kMore);
    std::vector<std::byte> frame = wire::encode_head(header, whole);
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
  }
};

class FramesOfInput {
 public:
  explicit FramesOfInput(std::span<const std::byte> input) : reader_(input), left_(input.size()) {}

  /// False when nothing is left.
  bool next(PlannedFrame& frame) {
    constexpr size_t kHead = 6;
    if (left_ < kHead) {
      return false;
    }
    left_ -= kHead;
    frame.how = reader_.fixed<uint8_t>();
    frame.kind = reader_.fixed<uint8_t>();
    const size_t body_bytes = reader_.fixed<uint16_t>();
    const size_t payload_bytes = reader_.fixed<uint16_t>();
    frame.body = take(body_bytes);
    frame.payload = take(payload_bytes);
    return true;
  }

 private:
  std::span<const std::byte> take(size_t bytes) {
    const size_t now = std::min(bytes, left_);
    left_ -= now;
    return reader_.bytes(now);
  }

  wire::Reader reader_;
  size_t left_;
};

}  // namespace stria::testing
