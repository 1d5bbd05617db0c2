// Chunks through ZFP, with a bound that holds, or as they were.
//
// Problem: ZFP can't keep a bound that is finer than the numbers' precision, nor any for numbers
// that aren't finite, and its decoder trusts what it reads.
// Method: each chunk is decompressed at once and compared; one that misses the bound is stored as
// it is. Stored bytes are read from a buffer with zeros behind them, as long as any stream that
// such a chunk can have.
// Cost: decompressing while compressing, and two buffers of a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "container/spec.hpp"

namespace stria::container {

class ZfpCodec {
 public:
  /// kUnsupported where this build or this machine has no libzfp.
  static Status available();

  /// Appends the chunk to `out`; false, and appends nothing, where it wouldn't get smaller, its
  /// bound wouldn't hold, or there is no libzfp.
  bool compress(const DatasetSpec& spec, std::span<const std::byte> chunk, std::vector<std::byte>& out);
  /// kCorrupted where `stored` isn't such a chunk, kUnsupported without libzfp.
  Status decompress(const DatasetSpec& spec, std::span<const std::byte> stored, std::span<std::byte> chunk);

 private:
  std::vector<uint64_t> stream_;
  std::vector<std::byte> back_;
};

}  // namespace stria::container
