// Numbers and text out of the bytes of an HDF5 file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace stria::container::h5 {

/// Reads little-endian numbers one behind another. What is missing reads as 0, and well() is false.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}
  int64_t number(size_t bytes) {
    uint64_t value = 0;
    const auto taken = take(bytes);
    for (size_t i = taken.size(); i-- > 0;) {
      value = value << 8 | static_cast<uint64_t>(taken[i]);
    }
    return static_cast<int64_t>(value);
  }
  std::span<const std::byte> take(size_t bytes) {
    well_ = well_ && bytes <= rest_.size();
    const auto taken = well_ ? rest_.first(bytes) : std::span<const std::byte>();
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  bool is(std::string_view text) {
    const auto taken = take(text.size());
    return taken.size() == text.size() && std::memcmp(taken.data(), text.data(), text.size()) == 0;
  }
  size_t left() const { return rest_.size(); }
  bool well() const { return well_; }

 private:
  std::span<const std::byte> rest_;
  bool well_ = true;
};

}  // namespace stria::container::h5
