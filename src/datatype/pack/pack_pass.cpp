#include "datatype/pack/pack_pass.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/check.hpp"
#include "datatype/pack/past_caches.hpp"

namespace stria::pack {
namespace {

/// Longer pieces are not asked for ahead: the hardware follows them by itself.
constexpr int64_t kMostAheadBytes = 32 << 10;

// This is always inlined, for the reason that prefetch_cells() has.
[[gnu::always_inline]] inline void prefetch_piece(const std::byte* piece, int64_t bytes) {
  for (int64_t line = 0; line < bytes; line += kCacheLineBytes) {
    __builtin_prefetch(piece + line, 0, 2);
  }
}

Form form_of(const Translation& translation) {
  const bool narrows = translation.memory != translation.stored;
  if (translation.is_swapped()) {
    return narrows ? Form::kFloatSwapped : Form::kSwapped;
  }
  return narrows ? Form::kFloat : Form::kRaw;
}

}  // namespace

void pack_element(const Translation& translation, const std::byte* memory, std::byte* stored) {
  convert_elements(translation.memory, memory, translation.stored, stored, 1);
  if (translation.is_swapped()) {
    swap_elements(translation.stored_bytes(), stored, stored, 1);
  }
}

void unpack_element(const Translation& translation, const std::byte* stored, std::byte* memory) {
  std::byte native[8];
  std::memcpy(native, stored, static_cast<size_t>(translation.stored_bytes()));
  if (translation.is_swapped()) {
    swap_elements(translation.stored_bytes(), native, native, 1);
  }
  convert_elements(translation.stored, native, translation.memory, memory, 1);
}

Pass::Pass(const Datatype& type, const Translation& translation, std::span<const Strand> strands, const KernelTable& kernels)
    : type_(type),
      translation_(translation),
      memory_shift_(std::countr_zero(static_cast<uint64_t>(translation.memory_bytes()))),
      stored_shift_(std::countr_zero(static_cast<uint64_t>(translation.stored_bytes()))),
      count_(static_cast<int>(strands.size())) {
  STRIA_ASSERT(type.displacement() == 0, type.displacement());
  STRIA_ASSERT(
      std::is_sorted(strands.begin(), strands.end(), [](const Strand& a, const Strand& b) { return a.memory < b.memory; }));
  for (const Strand& strand : strands) {
    memory_.push_back(strand.memory);
    packed_.push_back(strand.packed);
    ranges_.push_back(strand.range);
  }
  measures_ = translation.memory != ElementType::kByte && ranges_[0] != nullptr;
  choose_kernels(kernels);
  make_prefetch_points();
}

void Pass::choose_kernels(const KernelTable& kernels) {
  const bool is_double = translation_.memory == ElementType::kFloat64;
  const bool keeps = translation_.memory == translation_.stored;
  const bool is_float = translation_.stored == ElementType::kFloat32;
  const auto form = static_cast<size_t>(form_of(translation_));
  const bool is_bytes = translation_.is_raw() && !measures_;
  if ((keeps && translation_.memory_bytes() == 8 && (!measures_ || is_double)) || (is_double && is_float)) {
    kernel_bytes_ = 8;
    gather_ = measures_ ? kernels.gather8_range[form] : kernels.gather8[form];
    scatter_ = kernels.scatter8[form];
  } else if (keeps && translation_.memory_bytes() == 4 && !measures_) {
    kernel_bytes_ = 4;
    gather_ = kernels.gather4[form];
    scatter_ = kernels.scatter4[form];
  } else if (is_bytes && type_.piece_count() > 0) {
    // Nothing is converted, so the size of the pieces decides. Pieces of other sizes than 8 or 4
    // are copied one by one.
    const Cursor first(type_);
    kernel_bytes_ = first.row().piece_bytes == 4 ? 4 : 8;
    gather_ = kernel_bytes_ == 4 ? kernels.gather4[0] : kernels.gather8[0];
    scatter_ = kernel_bytes_ == 4 ? kernels.scatter4[0] : kernels.scatter8[0];
  }
  make_tiles(kernel_bytes_, kernel_bytes_ == 4 ? kernels.slots4 : kernels.slots8);
  const int least = kernel_bytes_ == 4 ? kernels.least4 : kernels.least8;
  if (std::all_of(tiles_.begin(), tiles_.end(), [least](const Tile& t) { return t.count < least; }) && !tiles_.empty()) {
    tiles_.clear();
    if (kernel_bytes_ == 8) {
      gather_ = measures_ ? kernels.sparse8_range[form] : kernels.sparse8[form];
      scatter_ = portable_kernels().scatter8[form];
    } else {
      gather_ = portable_kernels().gather4[form];
      scatter_ = portable_kernels().scatter4[form];
    }
  }
  if (gather_ != nullptr && measures_) {
    LaneRange nothing;
    std::fill(std::begin(nothing.minimum), std::end(nothing.minimum), ValueRange().minimum);
    std::fill(std::begin(nothing.maximum), std::end(nothing.maximum), ValueRange().maximum);
    lane_ranges_.assign(static_cast<size_t>(count_), nothing);
    tile_ranges_.assign(tiles_.size(), nothing);
  }
}

void Pass::make_tiles(int64_t width_bytes, int slots) {
  if (width_bytes == 0) {
    return;
  }
  for (int k = 0; k < count_; ++k) {
    Tile* tile = tiles_.empty() ? nullptr : &tiles_.back();
    const int64_t distance = tile == nullptr ? 0 : memory_[static_cast<size_t>(k)] - memory_[static_cast<size_t>(tile->first)];
    const int64_t slot = distance / width_bytes;
    const bool fits = tile != nullptr && distance % width_bytes == 0 && slot < slots && slot > tile->slot[tile->count - 1];
    if (!fits) {
      tiles_.push_back(Tile{k, 1, 1, {}});
      continue;
    }
    tile->slot[tile->count++] = static_cast<uint8_t>(slot);
    tile->mask = static_cast<uint8_t>(tile->mask | (1u << slot));
  }
}

void Pass::make_prefetch_points() {
  for (std::byte* address : memory_) {
    if (prefetch_points_.empty() || address - prefetch_points_.back() >= kCacheLineBytes) {
      prefetch_points_.push_back(address);
    }
  }
  // The last operand's element may end in another cache line.
  const std::byte* last = memory_.back() + std::max<int64_t>(kernel_bytes_, 1) - 1;
  const auto line_of = [](const std::byte* address) { return reinterpret_cast<uintptr_t>(address) / kCacheLineBytes; };
  if (line_of(last) != line_of(prefetch_points_.back())) {
    prefetch_points_.push_back(last);
  }
}

Comb Pass::whole_comb() {
  return {memory_.data(),      packed_.data(),     count_, tiles_.data(), static_cast<int>(tiles_.size()),
          lane_ranges_.data(), tile_ranges_.data()};
}

bool Pass::wants_prefetch() const {
  const PieceRow row = Cursor(type_).row();
  return row.piece_bytes == kernel_bytes_ && std::abs(row.stride) >= kCacheLineBytes;
}

void Pass::gather_run(int k, const std::byte* memory, int64_t bytes, int64_t packed_offset) {
  const Translation& t = translation_;
  std::byte* packed = packed_[static_cast<size_t>(k)] + packed_offset;
  if (t.is_raw() && !measures_) {
    std::memcpy(packed, memory, static_cast<size_t>(bytes));
    return;
  }
  const int64_t elements = bytes / t.memory_bytes();
  const int64_t step = kScratchBytes / 8;
  for (int64_t done = 0; done < elements; done += step) {
    const int64_t n = std::min(step, elements - done);
    const std::byte* from = memory + done * t.memory_bytes();
    std::byte* to = packed + done * t.stored_bytes();
    convert_elements(t.memory, from, t.stored, to, n);
    if (t.is_swapped()) {
      swap_elements(t.stored_bytes(), to, to, n);
    }
    if (measures_) {
      widen_range(t.memory, from, n, *ranges_[static_cast<size_t>(k)]);
    }
  }
}

void Pass::gather_raw(const PieceRow& row, int64_t packed_offset) {
  for (size_t k = 0; k < memory_.size(); ++k) {
    gather_pieces(memory_[k] + row.begin, row.stride, row.piece_bytes, row.count, packed_[k] + packed_offset);
  }
}

void Pass::gather_translated(const PieceRow& row, int64_t packed_offset) {
  const int64_t step = std::max<int64_t>(1, kScratchBytes / row.piece_bytes);
  scratch_.resize(static_cast<size_t>(kScratchBytes));
  for (int64_t done = 0; done < row.count; done += step) {
    const int64_t pieces = std::min(step, row.count - done);
    const int64_t bytes = pieces * row.piece_bytes;
    const int64_t at = packed_offset + stored_size(done * row.piece_bytes);
    for (int k = 0; k < count_; ++k) {
      gather_pieces(memory_[static_cast<size_t>(k)] + row.begin + done * row.stride, row.stride, row.piece_bytes, pieces,
                    scratch_.data());
      gather_run(k, scratch_.data(), bytes, at);
    }
  }
}

void Pass::gather_row(const PieceRow& row, int64_t packed_offset) {
  if (row.piece_bytes == kernel_bytes_ && gather_ != nullptr) {
    return gather_(whole_comb(), {row.begin, row.stride, row.count}, packed_offset);
  }
  if (row.piece_bytes < kLongPieceBytes && row.count > 1) {
    return translation_.is_raw() && !measures_ ? gather_raw(row, packed_offset) : gather_translated(row, packed_offset);
  }
  const bool asks = count_ * row.piece_bytes <= kMostAheadBytes;
  for (int64_t i = 0; i < row.count; ++i) {
    const int64_t at = packed_offset + stored_size(i * row.piece_bytes);
    for (int k = 0; asks && i + 1 < row.count && k < count_; ++k) {
      prefetch_piece(memory_[static_cast<size_t>(k)] + row.begin + (i + 1) * row.stride, row.piece_bytes);
    }
    for (int k = 0; k < count_; ++k) {
      gather_run(k, memory_[static_cast<size_t>(k)] + row.begin + i * row.stride, row.piece_bytes, at);
    }
  }
}

void Pass::pack(int64_t begin_element, int64_t end_element) {
  const int64_t width = translation_.memory_bytes();
  RowWalker walker(type_, begin_element * width, end_element * width);
  Comb comb = whole_comb();
  if (wants_prefetch()) {
    comb.lines = prefetch_points_.data();
    comb.line_count = static_cast<int>(prefetch_points_.size());
  }
  const auto more_rows = [&] {
    return gather_ != nullptr && !walker.done() ? walker.next_rows(kernel_bytes_) : Row{0, 0, 0, 0, 0};
  };
  int64_t packed_offset = 0;
  for (Row rows = more_rows(); rows.rows > 0 || !walker.done();) {
    if (rows.rows > 0) {
      const Row next = more_rows();
      rows.next_offset = next.rows > 0 ? next.offset : Row::kNoNext;
      gather_(comb, rows, packed_offset);
      packed_offset += stored_size(rows.rows * rows.count * kernel_bytes_);
      rows = next;
      continue;
    }
    const PieceRow row = walker.next();
    gather_row(row, packed_offset);
    packed_offset += stored_size(row.count * row.piece_bytes);
    rows = more_rows();
  }
  merge_ranges();
}

void Pass::merge_ranges() {
  for (size_t k = 0; k < lane_ranges_.size(); ++k) {
    const LaneRange& lanes = lane_ranges_[k];
    widen(k, *std::min_element(std::begin(lanes.minimum), std::end(lanes.minimum)),
          *std::max_element(std::begin(lanes.maximum), std::end(lanes.maximum)));
  }
  for (size_t t = 0; t < tile_ranges_.size(); ++t) {
    for (int i = 0; i < tiles_[t].count; ++i) {
      const size_t lane = tiles_[t].slot[i];
      widen(static_cast<size_t>(tiles_[t].first + i), tile_ranges_[t].minimum[lane], tile_ranges_[t].maximum[lane]);
    }
  }
}

void Pass::widen(size_t k, double minimum, double maximum) {
  ranges_[k]->minimum = std::min(ranges_[k]->minimum, minimum);
  ranges_[k]->maximum = std::max(ranges_[k]->maximum, maximum);
}

}  // namespace stria::pack
