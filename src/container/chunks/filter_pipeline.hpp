// What a chunk passes on its way into the file and back: shuffling, deflate or zstd, Fletcher's
// sum.
//
// Problem: zlib's deflate is ten times slower than the storage.
// Method: ISA-L, which makes the same format. A chunk that doesn't shrink is stored as it is, and
// says so.
// Cost: two buffers of a chunk, and the compressor's tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "container/chunks/chunking.hpp"
#include "stria/status.hpp"

namespace stria::container {

class FilterPipeline {
 public:
  FilterPipeline();
  ~FilterPipeline();
  FilterPipeline(const FilterPipeline&) = delete;
  FilterPipeline& operator=(const FilterPipeline&) = delete;

  /// Appends the chunk as the file is to have it to `out`, and returns the filters that it
  /// did not pass.
  FilterMask encode(const Filters& filters, int64_t element_bytes, std::span<const std::byte> chunk,
                    std::vector<std::byte>& out);
  /// Fills `chunk` with what `stored` holds. kCorrupted when that can't be.
  Status decode(const Filters& filters, int64_t element_bytes, std::span<const std::byte> stored, FilterMask skipped,
                std::span<std::byte> chunk);
  /// The most bytes that a chunk may take in a file.
  static int64_t stored_bytes_max(int64_t chunk_bytes);

 private:
  struct Deflate;
  struct Zstd;
  bool deflate(std::span<const std::byte> chunk, std::vector<std::byte>& out);
  Status inflate(std::span<const std::byte> stored, std::span<std::byte> chunk);
  bool zstd(std::span<const std::byte> chunk, std::vector<std::byte>& out);
  Status unzstd(std::span<const std::byte> stored, std::span<std::byte> chunk);

  std::unique_ptr<Deflate> deflate_;
  std::unique_ptr<Zstd> zstd_;  // once it is used
  std::vector<std::byte> scratch_, deflated_;
};

/// Fletcher's sum of 32 bits, as HDF5 has it.
uint32_t fletcher32(std::span<const std::byte> data);

}  // namespace stria::container
