#include <cstring>

#include "datatype/pack/pack_kernels.hpp"
#include "datatype/pack/scalar_kernels.hpp"

namespace stria::pack {
namespace {

/// How many cells of one operand are moved before the next operand's: their cache lines stay in the
/// first-level cache.
constexpr int64_t kCells = 16;

template <typename Element, Form form, bool measures>
void gather(const Comb& comb, const Row& row, int64_t packed_offset) {
  for (int64_t done = 0; done < row.count; done += kCells) {
    const int64_t cells = row.count - done < kCells ? row.count - done : kCells;
    for (int k = 0; k < comb.count; ++k) {
      gather_scalar<Element, form, measures>(comb.memory[k] + row.offset + done * row.stride, row.stride, cells,
                                             comb.packed[k] + packed_offset + done * packed_width<Element, form>(),
                                             measures ? &comb.ranges[k] : nullptr);
    }
  }
}

template <typename Element, Form form>
void scatter(const Comb& comb, const Row& row, int64_t packed_offset) {
  for (int64_t done = 0; done < row.count; done += kCells) {
    const int64_t cells = row.count - done < kCells ? row.count - done : kCells;
    for (int k = 0; k < comb.count; ++k) {
      scatter_scalar<Element, form>(comb.memory[k] + row.offset + done * row.stride, row.stride, cells,
                                    comb.packed[k] + packed_offset + done * packed_width<Element, form>());
    }
  }
}

/// Moves all rows. A single operand, which shares no cache lines, is moved row by row without
/// blocks of cells.
template <typename Element, Form form, bool measures>
void gather_rows(const Comb& comb, const Row& row, int64_t packed_offset) {
  constexpr int64_t kWidth = packed_width<Element, form>();
  if (comb.count > 1) {
    return each_row<gather<Element, form, measures>, kWidth>(comb, row, packed_offset);
  }
  const std::byte* memory = comb.memory[0] + row.offset;
  std::byte* packed = comb.packed[0] + packed_offset;
  for (int64_t r = 0; r < row.rows; ++r) {
    const int64_t ahead = offset_ahead(comb, row, r);
    if (ahead != Row::kNoNext) {
      prefetch_cells(comb, ahead, row.stride, row.count);
    }
    gather_scalar<Element, form, measures>(memory, row.stride, row.count, packed, measures ? comb.ranges : nullptr);
    memory += row.row_stride;
    packed += row.count * kWidth;
  }
}

template <typename Element, Form form>
void scatter_rows(const Comb& comb, const Row& row, int64_t packed_offset) {
  constexpr int64_t kWidth = packed_width<Element, form>();
  if (comb.count > 1) {
    return each_row<scatter<Element, form>, kWidth>(comb, row, packed_offset);
  }
  std::byte* memory = comb.memory[0] + row.offset;
  const std::byte* packed = comb.packed[0] + packed_offset;
  for (int64_t r = 0; r < row.rows; ++r) {
    scatter_scalar<Element, form>(memory, row.stride, row.count, packed);
    memory += row.row_stride;
    packed += row.count * kWidth;
  }
}

constexpr KernelTable kTable = {
    1,
    1,
    1,
    1,
    {gather_rows<uint64_t, Form::kRaw, false>, gather_rows<uint64_t, Form::kSwapped, false>,
     gather_rows<uint64_t, Form::kFloat, false>, gather_rows<uint64_t, Form::kFloatSwapped, false>},
    {gather_rows<uint64_t, Form::kRaw, true>, gather_rows<uint64_t, Form::kSwapped, true>,
     gather_rows<uint64_t, Form::kFloat, true>, gather_rows<uint64_t, Form::kFloatSwapped, true>},
    {gather_rows<uint64_t, Form::kRaw, false>, gather_rows<uint64_t, Form::kSwapped, false>,
     gather_rows<uint64_t, Form::kFloat, false>, gather_rows<uint64_t, Form::kFloatSwapped, false>},
    {gather_rows<uint64_t, Form::kRaw, true>, gather_rows<uint64_t, Form::kSwapped, true>,
     gather_rows<uint64_t, Form::kFloat, true>, gather_rows<uint64_t, Form::kFloatSwapped, true>},
    {gather_rows<uint32_t, Form::kRaw, false>, gather_rows<uint32_t, Form::kSwapped, false>},
    {scatter_rows<uint64_t, Form::kRaw>, scatter_rows<uint64_t, Form::kSwapped>, scatter_rows<uint64_t, Form::kFloat>,
     scatter_rows<uint64_t, Form::kFloatSwapped>},
    {scatter_rows<uint32_t, Form::kRaw>, scatter_rows<uint32_t, Form::kSwapped>},
};

template <typename Piece>
void gather_fixed(const std::byte* memory, int64_t stride, int64_t count, std::byte* packed) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(packed + i * static_cast<int64_t>(sizeof(Piece)), memory + i * stride, sizeof(Piece));
  }
}

template <typename Piece>
void scatter_fixed(std::byte* memory, int64_t stride, int64_t count, const std::byte* packed) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(memory + i * stride, packed + i * static_cast<int64_t>(sizeof(Piece)), sizeof(Piece));
  }
}

template <int size>
struct Bytes {
  std::byte at[size];
};

}  // namespace

const KernelTable& portable_kernels() {
  return kTable;
}

void gather_pieces(const std::byte* memory, int64_t stride, int64_t piece_bytes, int64_t count, std::byte* packed) {
  switch (piece_bytes) {
    case 1:
      return gather_fixed<Bytes<1>>(memory, stride, count, packed);
    case 2:
      return gather_fixed<Bytes<2>>(memory, stride, count, packed);
    case 4:
      return gather_fixed<Bytes<4>>(memory, stride, count, packed);
    case 8:
      return gather_fixed<Bytes<8>>(memory, stride, count, packed);
    case 16:
      return gather_fixed<Bytes<16>>(memory, stride, count, packed);
    case 24:
      return gather_fixed<Bytes<24>>(memory, stride, count, packed);
    case 32:
      return gather_fixed<Bytes<32>>(memory, stride, count, packed);
    case 64:
      return gather_fixed<Bytes<64>>(memory, stride, count, packed);
    case 128:
      return gather_fixed<Bytes<128>>(memory, stride, count, packed);
    default:
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(packed + i * piece_bytes, memory + i * stride, static_cast<size_t>(piece_bytes));
      }
  }
}

void scatter_pieces(std::byte* memory, int64_t stride, int64_t piece_bytes, int64_t count, const std::byte* packed) {
  switch (piece_bytes) {
    case 1:
      return scatter_fixed<Bytes<1>>(memory, stride, count, packed);
    case 2:
      return scatter_fixed<Bytes<2>>(memory, stride, count, packed);
    case 4:
      return scatter_fixed<Bytes<4>>(memory, stride, count, packed);
    case 8:
      return scatter_fixed<Bytes<8>>(memory, stride, count, packed);
    case 16:
      return scatter_fixed<Bytes<16>>(memory, stride, count, packed);
    case 24:
      return scatter_fixed<Bytes<24>>(memory, stride, count, packed);
    case 32:
      return scatter_fixed<Bytes<32>>(memory, stride, count, packed);
    case 64:
      return scatter_fixed<Bytes<64>>(memory, stride, count, packed);
    case 128:
      return scatter_fixed<Bytes<128>>(memory, stride, count, packed);
    default:
      for (int64_t i = 0; i < count; ++i) {
        std::memcpy(memory + i * stride, packed + i * piece_bytes, static_cast<size_t>(piece_bytes));
      }
  }
}

}  // namespace stria::pack
