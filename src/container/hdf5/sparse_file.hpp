// The file under libhdf5 while a new file is being made: gives out places and keeps the bytes of metadata in memory.
//
// Problem: left to itself the library scatters object headers between the datasets, in many small writes, and aligns either
// everything or nothing.
// Method: metadata are packed one behind the other into blocks (64 KiB at the head of the file, then twice as much each up to 1
// MiB); raw data of each dataset gets a place past them with the alignment asked for it. Only the blocks exist in memory. Cost:
// O(metadata).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "container/container.hpp"
#include "container/hdf5/file_driver.hpp"

namespace stria::container::h5 {

class SparseFile final : public DriverFile {
 public:
  static constexpr int64_t kBlockBytes = int64_t{64} << 10;
  static constexpr int64_t kExtensionBytesMax = int64_t{2} << 10;

  /// Where raw data get their place.
  enum class RawPlace {
    kPlanned,       ///< where place_next_at() says, in the range of plan_raw_data(); not in memory
    kOutside,       ///< past everything, not in memory: datasets whose data go around the library
    kWithMetadata,  ///< in memory, between metadata if small; they may not be written while this is on
    kOwnBlock       ///< in memory, past everything: what the library itself treats as raw data (large attributes)
  };
  /// Sets how the next raw data are placed, at a multiple of `alignment_bytes`.
  void place_raw_data(RawPlace place, int64_t alignment_bytes);
  /// Gives [kBlockBytes, end) to raw data whose places are planned; everything else goes past it. kInternal when that range
  /// isn't free.
  Status plan_raw_data(int64_t end);
  void place_next_at(int64_t offset) { planned_offset_ = offset; }
  /// Whether metadata may grow where they are; to be switched off around a change by more than kExtensionBytesMax.
  void allow_extension(bool allowed) { extension_allowed_ = allowed; }
  bool is_in_image(int64_t offset) const { return find(offset, 1) != nullptr; }
  /// All that was written; empties this. The space between metadata of one block reads as zeros.
  SparseImage take_image();

  Result<int64_t> allocate(H5FD_mem_t kind, int64_t bytes) override;
  void release(H5FD_mem_t kind, int64_t offset, int64_t bytes) override;
  int64_t allocated_end(H5FD_mem_t kind) const override;
  Status set_allocated_end(H5FD_mem_t kind, int64_t end) override;
  int64_t file_end() const override;
  Status read(H5FD_mem_t kind, int64_t offset, int64_t bytes, void* to) override;
  Status write(int64_t offset, int64_t bytes, const void* from) override;

 private:
  struct Block {
    int64_t offset = 0;
    int64_t used = 0;
    std::vector<std::byte> bytes;

    int64_t capacity() const { return static_cast<int64_t>(bytes.size()); }
  };

  Result<int64_t> allocate_packed(int64_t bytes, int64_t alignment_bytes);
  Result<int64_t> allocate_at_end(int64_t bytes, int64_t alignment_bytes);
  Result<int64_t> add_block(int64_t bytes, int64_t capacity, int64_t alignment_bytes);
  /// The bytes of [offset, offset + bytes), which must lie in one block; null otherwise.
  const std::byte* find(int64_t offset, int64_t bytes) const;
  Block& packed() { return blocks_[static_cast<size_t>(packing_)]; }
  const Block& packed() const { return blocks_[static_cast<size_t>(packing_)]; }
  int64_t packed_end() const;
  bool may_extend() const;

  std::vector<Block> blocks_;  // ascending offsets
  int64_t packing_ = -1;       // the block that is being filled
  int64_t end_ = 0;            // all places given out, whole blocks included
  int64_t next_block_bytes_ = kBlockBytes;
  int64_t raw_alignment_ = 1;
  int64_t planned_end_ = 0;
  int64_t planned_offset_ = 0;
  RawPlace raw_place_ = RawPlace::kOwnBlock;
  bool extension_allowed_ = true;
};

}  // namespace stria::container::h5
