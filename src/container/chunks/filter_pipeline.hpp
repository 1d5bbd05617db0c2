// Describes what a chunk passes on its way into the file and back: scale-offset or ZFP, shuffling,
// deflate or zstd, Fletcher's sum.
//
// Problem: zlib's deflate is ten times slower than the storage.
// Method: ISA-L, which makes the same format, and libdeflate to read it where that is there. A
// chunk that doesn't shrink is stored as it is, and says so. ISA-L to 2.32 takes a part of its
// stream's address for the third byte of a chunk where it notes where bytes were seen
// (igzip_icf_body_h1_gr_bt.asm, .write_first_byte), and may so miss a repetition: in one process of
// some 500, a small chunk takes a few bytes more. What it inflates to is the same.
// Cost: three buffers of a chunk, and the compressor's tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "container/chunks/filters/zfp_codec.hpp"
#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::container {

class FilterPipeline {
 public:
  /// Inflates by libdeflate, or else by ISA-L.
  explicit FilterPipeline(bool with_libdeflate = true);
  ~FilterPipeline();
  FilterPipeline(const FilterPipeline&) = delete;
  FilterPipeline& operator=(const FilterPipeline&) = delete;

  struct How {
    bool exact = false;  ///< nothing of the chunk gets lost
    bool raw = false;    ///< it is not compressed
  };
  /// Appends a chunk of a dataset, as the file is to have it, to `out`, and returns the filters
  /// that it did not pass. \pre the spec is cut into chunks
  FilterMask encode(const DatasetSpec& spec, std::span<const std::byte> chunk, std::vector<std::byte>& out,
                    const How& how = {.exact = false, .raw = false});
  /// Tells whether whole elements of a chunk shrink by themselves.
  bool shrinks(const DatasetSpec& spec, std::span<const std::byte> sample);
  /// Returns the filters that a chunk that isn't compressed does not pass.
  static FilterMask skipped_by_raw(const Filters& filters);
  /// Fills `chunk` with what `stored` holds. kCorrupted when that can't be.
  Status decode(const DatasetSpec& spec, std::span<const std::byte> stored, FilterMask skipped, std::span<std::byte> chunk);
  /// Returns the most bytes that a chunk may take in a file.
  static int64_t stored_bytes_max(int64_t chunk_bytes);

 private:
  struct Deflate;
  struct Zstd;
  bool deflate(std::span<const std::byte> chunk, std::vector<std::byte>& out);
  bool zstd(std::span<const std::byte> chunk, std::vector<std::byte>& out);
  bool compress(const Filters& filters, std::span<const std::byte> chunk, std::vector<std::byte>& out);
  std::span<const std::byte> shuffled(const DatasetSpec& spec, std::span<const std::byte> content);
  /// Returns how many bytes of `out` they have filled.
  Result<size_t> inflate(std::span<const std::byte> stored, std::span<std::byte> out);
  Result<size_t> unzstd(std::span<const std::byte> stored, std::span<std::byte> out);

  std::unique_ptr<Deflate> deflate_;
  std::unique_ptr<Zstd> zstd_;  // once it is used
  ZfpCodec zfp_;
  std::vector<std::byte> coded_, scratch_, deflated_, tried_;
};

/// Returns how many bytes of a dataset's chunks shuffling takes apart. \pre the spec is cut into
/// chunks
int64_t shuffled_bytes(const DatasetSpec& spec);

/// Fletcher's sum of 32 bits, as HDF5 has it.
uint32_t fletcher32(std::span<const std::byte> data);

}  // namespace stria::container
