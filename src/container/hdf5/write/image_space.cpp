#include "container/hdf5/write/image_space.hpp"

#include <algorithm>
#include <utility>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "base/checked.hpp"

namespace stria::container::h5 {

namespace {

// Metadata past the raw data begin on a page, so that they are written in whole pages, which some
// file systems prefer.
constexpr int64_t kTailAlignment = 4096;
// Tables with a larger alignment than this, or that would take a good part of the head,
// don't go there.
constexpr int64_t kHeadAlignmentMax = 512;
constexpr int64_t kHeadPieceMax = ImageSpace::kHeadBytes / 4;

int64_t size_of(const std::vector<std::byte>& bytes) {
  return static_cast<int64_t>(bytes.size());
}

}  // namespace

Result<int64_t> ImageSpace::reserve(int64_t bytes, int64_t alignment_bytes) {
  if (has_head_ && bytes <= kHeadPieceMax && alignment_bytes <= kHeadAlignmentMax) {
    const int64_t begin = align_up(size_of(head_), alignment_bytes);
    if (begin + bytes <= kHeadBytes) {
      head_.resize(static_cast<size_t>(begin + bytes));
      return begin;
    }
  }
  if (tail_.empty()) {
    tail_begin_ = has_head_ ? std::max(raw_end_, kHeadBytes) : raw_end_;
  }
  int64_t begin = 0;
  int64_t end = 0;
  const int64_t alignment = tail_.empty() ? std::max(alignment_bytes, kTailAlignment) : alignment_bytes;
  if (!checked_add(tail_begin_ + size_of(tail_), alignment - 1, &begin) ||
      !checked_add(align_down(begin, alignment), bytes, &end)) {
    return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^63 bytes");
  }
  begin = align_down(begin, alignment);
  if (tail_.empty()) {
    tail_begin_ = begin;
  }
  tail_.resize(static_cast<size_t>(end - tail_begin_));
  return begin;
}

void ImageSpace::write(int64_t offset, std::span<const std::byte> bytes) {
  STRIA_CHECK(offset >= 0 && offset + static_cast<int64_t>(bytes.size()) <= file_bytes(), offset, bytes.size(), file_bytes());
  STRIA_CHECK((has_head_ && offset + static_cast<int64_t>(bytes.size()) <= kHeadBytes) || offset >= tail_begin_, offset,
              bytes.size());
  const bool in_head = has_head_ && offset < kHeadBytes;
  std::copy(bytes.begin(), bytes.end(), (in_head ? head_ : tail_).begin() + (in_head ? offset : offset - tail_begin_));
}

Result<int64_t> ImageSpace::place(std::span<const std::byte> bytes, int64_t alignment_bytes) {
  STRIA_ASSIGN_OR_RETURN(const int64_t offset, reserve(static_cast<int64_t>(bytes.size()), alignment_bytes));
  write(offset, bytes);
  return offset;
}

int64_t ImageSpace::file_bytes() const {
  if (!tail_.empty()) {
    return tail_begin_ + size_of(tail_);
  }
  return !has_head_ || raw_end_ > kHeadBytes ? raw_end_ : size_of(head_);
}

SparseImage ImageSpace::take() {
  SparseImage image;
  image.file_bytes = file_bytes();
  if (has_head_) {
    image.extents.push_back({0, std::move(head_)});
  }
  if (!tail_.empty()) {
    image.extents.push_back({tail_begin_, std::move(tail_)});
  }
  return image;
}

}  // namespace stria::container::h5
