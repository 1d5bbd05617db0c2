// The one hash of the project: XXH3, 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stria {

/// Returns the XXH3-64 of the bytes.
uint64_t hash_bytes(std::span<const std::byte> data);

/// The same hash for bytes that come in parts.
class StreamingHash {
 public:
  StreamingHash();
  ~StreamingHash();
  StreamingHash(StreamingHash&&) noexcept;
  StreamingHash& operator=(StreamingHash&&) noexcept;

  void reset();
  void update(std::span<const std::byte> data);
  uint64_t digest() const;

 private:
  void* state_;
};

}  // namespace stria
