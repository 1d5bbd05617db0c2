// The half of a pass that brings packed streams to memory.
#include <algorithm>
#include <cstring>

#include "datatype/pack/pack_pass.hpp"
#include "datatype/pack/past_caches.hpp"

namespace stria::pack {
namespace {

/// How many rows ahead unpacking prefetches the cache lines that it writes, into the second-level
/// cache: the first level keeps too few lines under way.
constexpr int kRowsAhead = 2;
/// Pieces that are worth a copy of whole lines.
constexpr int64_t kPastCachesPieceBytes = 1 << 10;
/// Rows longer than this don't stay in the nearest cache until they are copied past the caches.
constexpr int64_t kLargestRowBytes = 32 << 10;

struct alignas(kCacheLineBytes) CacheLine {
  std::byte bytes[kCacheLineBytes];
};

}  // namespace

void Pass::scatter_run(int k, std::byte* memory, int64_t bytes, int64_t packed_offset) {
  const Translation& t = translation_;
  const std::byte* packed = packed_[static_cast<size_t>(k)] + packed_offset;
  if (t.is_raw()) {
    if (past_caches_ && bytes >= kPastCachesPieceBytes) {
      copy_past_caches(memory, packed, bytes);
    } else {
      std::memcpy(memory, packed, static_cast<size_t>(bytes));
    }
    return;
  }
  const int64_t elements = bytes / t.memory_bytes();
  const int64_t step = kScratchBytes / 8;
  std::byte native[kScratchBytes];
  for (int64_t done = 0; done < elements; done += step) {
    const int64_t n = std::min(step, elements - done);
    const std::byte* from = packed + done * t.stored_bytes();
    if (t.is_swapped()) {
      swap_elements(t.stored_bytes(), from, native, n);
      from = native;
    }
    convert_elements(t.stored, from, t.memory, memory + done * t.memory_bytes(), n);
  }
}

void Pass::scatter_raw(const PieceRow& row, int64_t packed_offset) {
  for (size_t k = 0; k < memory_.size(); ++k) {
    scatter_pieces(memory_[k] + row.begin, row.stride, row.piece_bytes, row.count, packed_[k] + packed_offset);
  }
}

void Pass::scatter_translated(const PieceRow& row, int64_t packed_offset) {
  const int64_t step = std::max<int64_t>(1, kScratchBytes / row.piece_bytes);
  scratch_.resize(static_cast<size_t>(kScratchBytes));
  for (int64_t done = 0; done < row.count; done += step) {
    const int64_t pieces = std::min(step, row.count - done);
    const int64_t bytes = pieces * row.piece_bytes;
    const int64_t at = packed_offset + stored_size(done * row.piece_bytes);
    for (int k = 0; k < count_; ++k) {
      scatter_run(k, scratch_.data(), bytes, at);
      scatter_pieces(memory_[static_cast<size_t>(k)] + row.begin + done * row.stride, row.stride, row.piece_bytes, pieces,
                     scratch_.data());
    }
  }
}

void Pass::scatter_row(const PieceRow& row, int64_t packed_offset) {
  if (row.piece_bytes == kernel_bytes_ && scatter_ != nullptr) {
    return scatter_(whole_comb(), {row.begin, row.stride, row.count}, packed_offset);
  }
  if (row.piece_bytes < kLongPieceBytes && row.count > 1) {
    return translation_.is_raw() ? scatter_raw(row, packed_offset) : scatter_translated(row, packed_offset);
  }
  for (int64_t i = 0; i < row.count; ++i) {
    const int64_t at = packed_offset + stored_size(i * row.piece_bytes);
    for (int k = 0; k < count_; ++k) {
      scatter_run(k, memory_[static_cast<size_t>(k)] + row.begin + i * row.stride, row.piece_bytes, at);
    }
  }
}

void Pass::unpack(int64_t begin_element, int64_t end_element) {
  const int64_t width = translation_.memory_bytes();
  RowWalker walker(type_, begin_element * width, end_element * width);
  if (count_ > 1 && wants_prefetch()) {
    return unpack_ahead(walker, RowWalker(type_, begin_element * width, end_element * width));
  }
  const Comb comb = whole_comb();
  for (int64_t packed_offset = 0; !walker.done();) {
    const Row rows = scatter_ != nullptr ? walker.next_rows(kernel_bytes_) : Row{0, 0, 0, 0, 0};
    if (rows.rows > 0) {
      scatter_(comb, rows, packed_offset);
      packed_offset += stored_size(rows.rows * rows.count * kernel_bytes_);
      continue;
    }
    const PieceRow row = walker.next();
    scatter_row(row, packed_offset);
    packed_offset += stored_size(row.count * row.piece_bytes);
  }
}

// Tells whether the operands fill every byte from the first to the end of the last, in each cell.
bool Pass::is_dense() const {
  for (int k = 0; k < count_; ++k) {
    if (memory_[static_cast<size_t>(k)] - memory_[0] != k * kernel_bytes_) {
      return false;
    }
  }
  return scatter_ != nullptr && RowWalker::kMostPieces * count_ * kernel_bytes_ <= kLargestRowBytes;
}

void Pass::unpack_past_caches(int64_t begin_element, int64_t end_element) {
  past_caches_ = true;
  is_dense() ? unpack_dense(begin_element, end_element) : unpack(begin_element, end_element);
  end_past_caches();
}

// A row without gaps is put together in the nearest cache, and copied from there.
void Pass::unpack_dense(int64_t begin_element, int64_t end_element) {
  const int64_t cell_bytes = count_ * kernel_bytes_;
  std::vector<CacheLine> lines(static_cast<size_t>(RowWalker::kMostPieces * cell_bytes / kCacheLineBytes + 1));
  std::byte* const row_memory = lines.front().bytes;
  std::vector<std::byte*> places;
  for (int k = 0; k < count_; ++k) {
    places.push_back(row_memory + k * kernel_bytes_);
  }
  Comb comb = whole_comb();
  comb.memory = places.data();
  const int64_t width = translation_.memory_bytes();
  RowWalker walker(type_, begin_element * width, end_element * width);
  for (int64_t packed_offset = 0; !walker.done();) {
    const PieceRow row = walker.next();
    if (row.piece_bytes == kernel_bytes_ && row.stride == cell_bytes) {
      scatter_(comb, {0, row.stride, row.count}, packed_offset);
      copy_past_caches(memory_[0] + row.begin, row_memory, row.count * cell_bytes);
    } else {
      scatter_row(row, packed_offset);
    }
    packed_offset += stored_size(row.count * row.piece_bytes);
  }
}

void Pass::unpack_ahead(RowWalker& walker, RowWalker ahead) {
  for (int i = 0; i < kRowsAhead && !ahead.done(); ++i) {
    prefetch(ahead.next());
  }
  for (int64_t packed_offset = 0; !walker.done();) {
    if (!ahead.done()) {
      prefetch(ahead.next());
    }
    const PieceRow row = walker.next();
    scatter_row(row, packed_offset);
    packed_offset += stored_size(row.count * row.piece_bytes);
  }
}

void Pass::prefetch(const PieceRow& row) const {
  for (int64_t i = 0; i < row.count; ++i) {
    for (const std::byte* point : prefetch_points_) {
      __builtin_prefetch(point + row.begin + i * row.stride, 1, 2);
    }
  }
}

}  // namespace stria::pack
