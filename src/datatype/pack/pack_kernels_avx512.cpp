// Kernels for AVX-512 (F, BW, DQ, VL). They transpose eight cells of at most eight 8-byte
// operands in registers.
#if defined(__x86_64__)

#include <immintrin.h>

#include "datatype/pack/pack_kernels.hpp"
#include "datatype/pack/scalar_kernels.hpp"

namespace stria::pack {
namespace {

constexpr int64_t kCells = 8;
constexpr int kMinTransposed = 6;

inline __mmask8 first_lanes(int64_t count) {
  return static_cast<__mmask8>((1u << count) - 1);
}

/// Transposes: the element in row i, column j moves to row j, column i.
inline void transpose(__m512d (&r)[8]) {
  const __m512d a0 = _mm512_unpacklo_pd(r[0], r[1]);
  const __m512d a1 = _mm512_unpackhi_pd(r[0], r[1]);
  const __m512d a2 = _mm512_unpacklo_pd(r[2], r[3]);
  const __m512d a3 = _mm512_unpackhi_pd(r[2], r[3]);
  const __m512d a4 = _mm512_unpacklo_pd(r[4], r[5]);
  const __m512d a5 = _mm512_unpackhi_pd(r[4], r[5]);
  const __m512d a6 = _mm512_unpacklo_pd(r[6], r[7]);
  const __m512d a7 = _mm512_unpackhi_pd(r[6], r[7]);
  // The shuffles go by lanes of 128 bits: first the even lanes of two pairs of rows, then the odd
  // ones.
  const __m512d b0 = _mm512_shuffle_f64x2(a0, a2, 0x88);
  const __m512d b1 = _mm512_shuffle_f64x2(a1, a3, 0x88);
  const __m512d b2 = _mm512_shuffle_f64x2(a0, a2, 0xdd);
  const __m512d b3 = _mm512_shuffle_f64x2(a1, a3, 0xdd);
  const __m512d b4 = _mm512_shuffle_f64x2(a4, a6, 0x88);
  const __m512d b5 = _mm512_shuffle_f64x2(a5, a7, 0x88);
  const __m512d b6 = _mm512_shuffle_f64x2(a4, a6, 0xdd);
  const __m512d b7 = _mm512_shuffle_f64x2(a5, a7, 0xdd);
  r[0] = _mm512_shuffle_f64x2(b0, b4, 0x88);
  r[1] = _mm512_shuffle_f64x2(b1, b5, 0x88);
  r[2] = _mm512_shuffle_f64x2(b2, b6, 0x88);
  r[3] = _mm512_shuffle_f64x2(b3, b7, 0x88);
  r[4] = _mm512_shuffle_f64x2(b0, b4, 0xdd);
  r[5] = _mm512_shuffle_f64x2(b1, b5, 0xdd);
  r[6] = _mm512_shuffle_f64x2(b2, b6, 0xdd);
  r[7] = _mm512_shuffle_f64x2(b3, b7, 0xdd);
}

inline __m512d swap_8(__m512d value) {
  const __m512i order = _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  return _mm512_castsi512_pd(_mm512_shuffle_epi8(_mm512_castpd_si512(value), order));
}

inline __m256 swap_4(__m256 value) {
  const __m256i order = _mm256_broadcastsi128_si256(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
  return _mm256_castsi256_ps(_mm256_shuffle_epi8(_mm256_castps_si256(value), order));
}

template <Form form>
inline void store(std::byte* packed, __mmask8 cells, __m512d values) {
  if constexpr (form == Form::kRaw) {
    _mm512_mask_storeu_pd(packed, cells, values);
  } else if constexpr (form == Form::kSwapped) {
    _mm512_mask_storeu_pd(packed, cells, swap_8(values));
  } else {
    const __m256 narrowed = _mm512_cvtpd_ps(values);
    _mm256_mask_storeu_ps(packed, cells, form == Form::kFloat ? narrowed : swap_4(narrowed));
  }
}

/// The comparisons give their second argument where the first is NaN.
inline void measure(LaneRange& range, __mmask8 cells, __m512d values) {
  const __m512d minimum = _mm512_load_pd(range.minimum);
  const __m512d maximum = _mm512_load_pd(range.maximum);
  _mm512_store_pd(range.minimum, _mm512_mask_min_pd(minimum, cells, values, minimum));
  _mm512_store_pd(range.maximum, _mm512_mask_max_pd(maximum, cells, values, maximum));
}

template <Form form, bool measures>
inline void emit(const Comb& comb, int k, int64_t packed_offset, __mmask8 cells, __m512d values) {
  store<form>(comb.packed[k] + packed_offset, cells, values);
  if constexpr (measures) {
    measure(comb.ranges[k], cells, values);
  }
}

/// Widens the range by eight cells of eight operands, one operand per lane, with a single load and
/// store of the range.
inline void measure_rows(LaneRange& range, const __m512d (&rows)[8]) {
  __m512d minimum = _mm512_load_pd(range.minimum);
  __m512d maximum = _mm512_load_pd(range.maximum);
  for (const __m512d& row : rows) {
    minimum = _mm512_min_pd(row, minimum);
    maximum = _mm512_max_pd(row, maximum);
  }
  _mm512_store_pd(range.minimum, minimum);
  _mm512_store_pd(range.maximum, maximum);
}

template <Form form, bool measures>
inline void gather_whole_tile(const Comb& comb, int number, const std::byte* memory, int64_t stride, int64_t packed_offset) {
  __m512d rows[8];
  for (int i = 0; i < 8; ++i) {
    rows[i] = _mm512_loadu_pd(memory + i * stride);
  }
  if constexpr (measures) {
    measure_rows(comb.tile_ranges[number], rows);
  }
  transpose(rows);
  for (int j = 0; j < 8; ++j) {
    store<form>(comb.packed[comb.tiles[number].first + j] + packed_offset, 0xff, rows[j]);
  }
}

/// Moves a tile with unused slots, or the last cells of a row.
template <Form form, bool measures>
void gather_part_tile(const Comb& comb, const Tile& tile, const std::byte* memory, int64_t stride, int64_t count,
                      int64_t packed_offset) {
  __m512d rows[8];
  for (int i = 0; i < 8; ++i) {
    rows[i] = i < count ? _mm512_maskz_loadu_pd(tile.mask, memory + i * stride) : _mm512_setzero_pd();
  }
  transpose(rows);
  alignas(64) double columns[8][8];
  for (int i = 0; i < 8; ++i) {
    _mm512_store_pd(columns[i], rows[i]);
  }
  const __mmask8 cells = first_lanes(count);
  for (int j = 0; j < tile.count; ++j) {
    emit<form, measures>(comb, tile.first + j, packed_offset, cells, _mm512_load_pd(columns[tile.slot[j]]));
  }
}

/// Loads eight elements, `stride` bytes apart.
inline __m512d load_column(const std::byte* memory, int64_t stride) {
  const auto pair = [&](int64_t i) {
    const auto* first = reinterpret_cast<const double*>(memory + i * stride);
    return _mm_loadh_pd(_mm_load_sd(first), reinterpret_cast<const double*>(memory + (i + 1) * stride));
  };
  const __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(pair(0)), pair(2), 1);
  const __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(pair(4)), pair(6), 1);
  return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

/// Moves the cells of operands [first, first + count), one operand after another.
template <Form form, bool measures>
inline void gather_few(const Comb& comb, int first, int count, const Row& row, int64_t packed_offset) {
  constexpr bool kComputes = measures || form == Form::kFloat || form == Form::kFloatSwapped;
  for (int k = first; k < first + count; ++k) {
    int64_t done = 0;
    for (; kComputes && done + kCells <= row.count; done += kCells) {
      const __m512d values = load_column(comb.memory[k] + row.offset + done * row.stride, row.stride);
      emit<form, measures>(comb, k, packed_offset + done * packed_width<uint64_t, form>(), 0xff, values);
    }
    gather_scalar<uint64_t, form, measures>(comb.memory[k] + row.offset + done * row.stride, row.stride, row.count - done,
                                            comb.packed[k] + packed_offset + done * packed_width<uint64_t, form>(),
                                            measures ? &comb.ranges[k] : nullptr);
  }
}

template <Form form, bool measures>
void gather_sparse(const Comb& comb, const Row& row, int64_t packed_offset) {
  gather_few<form, measures>(comb, 0, comb.count, row, packed_offset);
}

template <Form form, bool measures>
void gather(const Comb& comb, const Row& row, int64_t packed_offset) {
  for (int64_t done = 0; done < row.count; done += kCells) {
    const int64_t cells = row.count - done < kCells ? row.count - done : kCells;
    const int64_t offset = row.offset + done * row.stride;
    const int64_t packed = packed_offset + done * packed_width<uint64_t, form>();
    for (int t = 0; t < comb.tile_count; ++t) {
      const Tile& tile = comb.tiles[t];
      if (tile.count == 8 && cells == kCells) {
        gather_whole_tile<form, measures>(comb, t, comb.memory[tile.first] + offset, row.stride, packed);
      } else if (tile.count >= kMinTransposed) {
        gather_part_tile<form, measures>(comb, tile, comb.memory[tile.first] + offset, row.stride, cells, packed);
      } else {
        gather_few<form, measures>(comb, tile.first, tile.count, {offset, row.stride, cells}, packed);
      }
    }
  }
}

template <Form form>
inline __m512d load(const std::byte* packed, __mmask8 cells) {
  const __m512d values = _mm512_maskz_loadu_pd(cells, packed);
  return form == Form::kSwapped ? swap_8(values) : values;
}

template <Form form>
inline void scatter_whole_tile(const Comb& comb, const Tile& tile, std::byte* memory, int64_t stride, int64_t packed_offset) {
  __m512d rows[8];
  for (int j = 0; j < 8; ++j) {
    rows[j] = load<form>(comb.packed[tile.first + j] + packed_offset, 0xff);
  }
  transpose(rows);
  for (int i = 0; i < 8; ++i) {
    _mm512_storeu_pd(memory + i * stride, rows[i]);
  }
}

template <Form form>
void scatter_part_tile(const Comb& comb, const Tile& tile, std::byte* memory, int64_t stride, int64_t count,
                       int64_t packed_offset) {
  alignas(64) double columns[8][8] = {};
  const __mmask8 cells = first_lanes(count);
  for (int j = 0; j < tile.count; ++j) {
    _mm512_store_pd(columns[tile.slot[j]], load<form>(comb.packed[tile.first + j] + packed_offset, cells));
  }
  __m512d rows[8];
  for (int j = 0; j < 8; ++j) {
    rows[j] = _mm512_load_pd(columns[j]);
  }
  transpose(rows);
  for (int i = 0; i < 8; ++i) {
    if (i < count) {
      _mm512_mask_storeu_pd(memory + i * stride, tile.mask, rows[i]);
    }
  }
}

template <Form form>
void scatter(const Comb& comb, const Row& row, int64_t packed_offset) {
  for (int64_t done = 0; done < row.count; done += kCells) {
    const int64_t cells = row.count - done < kCells ? row.count - done : kCells;
    const int64_t offset = row.offset + done * row.stride;
    const int64_t packed = packed_offset + done * 8;
    for (int t = 0; t < comb.tile_count; ++t) {
      const Tile& tile = comb.tiles[t];
      if (tile.count == 8 && cells == kCells) {
        scatter_whole_tile<form>(comb, tile, comb.memory[tile.first] + offset, row.stride, packed);
      } else if (tile.count >= kMinTransposed) {
        scatter_part_tile<form>(comb, tile, comb.memory[tile.first] + offset, row.stride, cells, packed);
      } else {
        for (int k = tile.first; k < tile.first + tile.count; ++k) {
          scatter_scalar<uint64_t, form>(comb.memory[k] + offset, row.stride, cells, comb.packed[k] + packed);
        }
      }
    }
  }
}

KernelTable make_table() {
  KernelTable table = avx2_kernels();  // they are as good for 4-byte elements
  table.slots8 = 8;
  table.least8 = kMinTransposed;
  table.gather8[0] = each_row<gather<Form::kRaw, false>, 8>;
  table.gather8[1] = each_row<gather<Form::kSwapped, false>, 8>;
  table.gather8[2] = each_row<gather<Form::kFloat, false>, 4>;
  table.gather8[3] = each_row<gather<Form::kFloatSwapped, false>, 4>;
  table.gather8_range[0] = each_row<gather<Form::kRaw, true>, 8>;
  table.gather8_range[1] = each_row<gather<Form::kSwapped, true>, 8>;
  table.gather8_range[2] = each_row<gather<Form::kFloat, true>, 4>;
  table.gather8_range[3] = each_row<gather<Form::kFloatSwapped, true>, 4>;
  table.sparse8_range[0] = each_row<gather_sparse<Form::kRaw, true>, 8>;
  table.sparse8_range[1] = each_row<gather_sparse<Form::kSwapped, true>, 8>;
  table.sparse8_range[2] = each_row<gather_sparse<Form::kFloat, true>, 4>;
  table.sparse8_range[3] = each_row<gather_sparse<Form::kFloatSwapped, true>, 4>;
  table.scatter8[0] = each_row<scatter<Form::kRaw>, 8>;
  table.scatter8[1] = each_row<scatter<Form::kSwapped>, 8>;
  return table;
}

}  // namespace

const KernelTable& avx512_kernels() {
  static const KernelTable table = make_table();
  return table;
}

}  // namespace stria::pack

#endif
