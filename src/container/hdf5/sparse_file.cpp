#include "container/hdf5/sparse_file.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_range.hpp"
#include "base/checked.hpp"

namespace stria::container::h5 {

namespace {

// Later blocks begin on a page, so that their write is whole pages where the file system likes that.
constexpr int64_t kBlockAlignment = 4096;
// A table that wants more than this, or more room than a good part of a block, gets a block of its own.
constexpr int64_t kPackedAlignmentMax = 512;
constexpr int64_t kBlockBytesMax = int64_t{1} << 20;
constexpr int64_t kPackedBytesMax = SparseFile::kBlockBytes / 4;
// Metadata at the end of a block may grow in place while this much is left, which is more than they grow by at a time.
constexpr int64_t kExtensionRoom = 2 * SparseFile::kExtensionBytesMax;

}  // namespace

void SparseFile::place_raw_data(RawPlace place, int64_t alignment_bytes) {
  raw_place_ = place;
  raw_alignment_ = alignment_bytes;
}

Status SparseFile::plan_raw_data(int64_t end) {
  if (end_ > kBlockBytes) {
    return Status(ErrorCode::kInternal, "the space for planned datasets is in use");
  }
  planned_end_ = std::max(end, kBlockBytes);
  end_ = planned_end_;
  return Status();
}

Result<int64_t> SparseFile::allocate(H5FD_mem_t kind, int64_t bytes) {
  if (kind != H5FD_MEM_DRAW) {
    return allocate_packed(bytes, 1);
  }
  if (raw_place_ == RawPlace::kPlanned) {
    if (planned_offset_ < kBlockBytes || planned_offset_ > planned_end_ || bytes > planned_end_ - planned_offset_) {
      return Status(ErrorCode::kInternal, "a dataset's planned place is outside of the plan");
    }
    return planned_offset_;
  }
  if (raw_place_ == RawPlace::kOutside) {
    return allocate_at_end(bytes, raw_alignment_);
  }
  const bool own_block = raw_place_ == RawPlace::kOwnBlock || bytes > kPackedBytesMax || raw_alignment_ > kPackedAlignmentMax;
  return own_block ? add_block(bytes, bytes, raw_alignment_) : allocate_packed(bytes, raw_alignment_);
}

Result<int64_t> SparseFile::allocate_packed(int64_t bytes, int64_t alignment_bytes) {
  if (packing_ >= 0) {
    Block& block = packed();
    const int64_t at = align_up(packed_end() + (may_extend() ? 0 : 1), alignment_bytes) - block.offset;
    if (bytes <= block.capacity() - at) {
      block.used = at + bytes;
      return block.offset + at;
    }
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t offset, add_block(bytes, std::max(bytes, next_block_bytes_), kBlockAlignment));
  next_block_bytes_ = std::min(2 * next_block_bytes_, kBlockBytesMax);
  packing_ = static_cast<int64_t>(blocks_.size()) - 1;
  return offset;
}

Result<int64_t> SparseFile::add_block(int64_t bytes, int64_t capacity, int64_t alignment_bytes) {
  STRIA_ASSIGN_OR_RETURN(const int64_t offset, allocate_at_end(capacity, alignment_bytes));
  blocks_.push_back(Block{offset, bytes, std::vector<std::byte>(static_cast<size_t>(capacity))});
  return offset;
}

Result<int64_t> SparseFile::allocate_at_end(int64_t bytes, int64_t alignment_bytes) {
  int64_t begin = 0;
  int64_t end = 0;
  if (!checked_add(end_, alignment_bytes - 1, &begin) || !checked_add(align_down(begin, alignment_bytes), bytes, &end)) {
    return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^63 bytes");
  }
  end_ = end;
  return align_down(begin, alignment_bytes);
}

void SparseFile::release(H5FD_mem_t kind, int64_t offset, int64_t bytes) {
  if (kind != H5FD_MEM_DRAW && packing_ >= 0 && packed_end() == offset + bytes && offset >= packed().offset) {
    Block& block = packed();
    std::fill_n(block.bytes.begin() + (offset - block.offset), bytes, std::byte{0});
    block.used = offset - block.offset;
  }
}

int64_t SparseFile::packed_end() const {
  return packing_ < 0 ? 0 : packed().offset + packed().used;
}

bool SparseFile::may_extend() const {
  return extension_allowed_ && packing_ >= 0 && packed().capacity() - packed().used >= kExtensionRoom;
}

// The library asks for the end of a kind before it allocates, and expects a place past it; metadata places ascend, those of
// tables between them don't. Metadata that end just there it extends by moving the end, which it is told lies further when
// there is no room.
int64_t SparseFile::allocated_end(H5FD_mem_t kind) const {
  if (kind == H5FD_MEM_DRAW) {
    return raw_place_ == RawPlace::kWithMetadata || raw_place_ == RawPlace::kPlanned ? 0 : file_end();
  }
  const bool whole_file = kind == H5FD_MEM_SUPER || kind == H5FD_MEM_DEFAULT || packing_ < 0;
  return whole_file ? file_end() : packed_end() + (may_extend() ? 0 : 1);
}

Status SparseFile::set_allocated_end(H5FD_mem_t kind, int64_t end) {
  if (kind == H5FD_MEM_DRAW || kind == H5FD_MEM_SUPER || kind == H5FD_MEM_DEFAULT || packing_ < 0) {
    return end == file_end() ? Status() : Status(ErrorCode::kInternal, "libhdf5 moved the end of the file");
  }
  Block& block = packed();
  if (end < packed_end() || end > block.offset + block.capacity()) {
    return Status(ErrorCode::kInternal, "libhdf5 extended metadata past its block");
  }
  block.used = end - block.offset;
  return Status();
}

int64_t SparseFile::file_end() const {
  const bool block_is_last = !blocks_.empty() && blocks_.back().offset + blocks_.back().capacity() == end_;
  return block_is_last ? blocks_.back().offset + blocks_.back().used : end_;
}

const std::byte* SparseFile::find(int64_t offset, int64_t bytes) const {
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), offset,
                                      [](int64_t value, const Block& block) { return value < block.offset; });
  if (after == blocks_.begin()) {
    return nullptr;
  }
  const Block& block = *std::prev(after);
  const int64_t at = offset - block.offset;
  return at <= block.used && bytes <= block.used - at ? block.bytes.data() + at : nullptr;
}

Status SparseFile::read(H5FD_mem_t, int64_t offset, int64_t bytes, void* to) {
  const std::byte* from = find(offset, bytes);
  if (from == nullptr) {
    return Status(ErrorCode::kInternal, "libhdf5 read outside the metadata at offset " + std::to_string(offset));
  }
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return Status();
}

Status SparseFile::write(int64_t offset, int64_t bytes, const void* from) {
  std::byte* to = const_cast<std::byte*>(find(offset, bytes));
  if (to == nullptr) {
    return Status(ErrorCode::kInternal, "libhdf5 wrote outside the metadata at offset " + std::to_string(offset));
  }
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return Status();
}

SparseImage SparseFile::take_image() {
  SparseImage image;
  image.file_bytes = file_end();
  for (Block& block : blocks_) {
    if (block.used == 0) {
      continue;
    }
    block.bytes.resize(static_cast<size_t>(block.used));
    image.extents.push_back(SparseImage::Extent{block.offset, std::move(block.bytes)});
  }
  blocks_.clear();
  packing_ = -1;
  end_ = 0;
  return image;
}

}  // namespace stria::container::h5
