// Kernels for AVX2. They transpose eight cells of four 8-byte operands, or of eight 4-byte
// operands, in registers.
#if defined(__x86_64__)

#include <immintrin.h>

#include "datatype/pack/pack_kernels.hpp"
#include "datatype/pack/scalar_kernels.hpp"

namespace stria::pack {
namespace {

constexpr int64_t kCells = 8;

inline __m256d load_8(const std::byte* from) {
  return _mm256_loadu_pd(reinterpret_cast<const double*>(from));
}
inline void store_8(std::byte* to, __m256d values) {
  _mm256_storeu_pd(reinterpret_cast<double*>(to), values);
}
inline __m256 load_4(const std::byte* from) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(from));
}
inline void store_4(std::byte* to, __m256 values) {
  _mm256_storeu_ps(reinterpret_cast<float*>(to), values);
}

inline void transpose(__m256d (&r)[4]) {
  const __m256d a0 = _mm256_unpacklo_pd(r[0], r[1]);
  const __m256d a1 = _mm256_unpackhi_pd(r[0], r[1]);
  const __m256d a2 = _mm256_unpacklo_pd(r[2], r[3]);
  const __m256d a3 = _mm256_unpackhi_pd(r[2], r[3]);
  r[0] = _mm256_permute2f128_pd(a0, a2, 0x20);
  r[1] = _mm256_permute2f128_pd(a1, a3, 0x20);
  r[2] = _mm256_permute2f128_pd(a0, a2, 0x31);
  r[3] = _mm256_permute2f128_pd(a1, a3, 0x31);
}

inline void transpose(__m256 (&r)[8]) {
  __m256 a[8];
  for (int i = 0; i < 8; i += 2) {
    a[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    a[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  __m256 b[8];
  for (int i = 0; i < 8; i += 4) {
    b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
    b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
    b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
    b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    r[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  }
}

inline __m256i shuffle_bytes(__m256i value, __m128i order) {
  return _mm256_shuffle_epi8(value, _mm256_broadcastsi128_si256(order));
}

inline __m256d swap(__m256d value) {
  const __m128i order = _mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_castsi256_pd(shuffle_bytes(_mm256_castpd_si256(value), order));
}

inline __m256 swap(__m256 value) {
  const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  return _mm256_castsi256_ps(shuffle_bytes(_mm256_castps_si256(value), order));
}

/// Stores eight cells of one operand.
template <Form form>
inline void store(std::byte* packed, __m256d low, __m256d high) {
  if constexpr (form == Form::kRaw) {
    store_8(packed, low);
    store_8(packed + 32, high);
  } else if constexpr (form == Form::kSwapped) {
    store_8(packed, swap(low));
    store_8(packed + 32, swap(high));
  } else {
    const __m256 narrowed = _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
    store_4(packed, form == Form::kFloat ? narrowed : swap(narrowed));
  }
}

/// Widens the range by four cells of four operands, one operand per lane. The comparisons give
/// their second argument where the first is NaN.
inline void measure_rows(LaneRange& range, const __m256d (&rows)[4]) {
  __m256d minimum = _mm256_load_pd(range.minimum);
  __m256d maximum = _mm256_load_pd(range.maximum);
  for (const __m256d& row : rows) {
    minimum = _mm256_min_pd(row, minimum);
    maximum = _mm256_max_pd(row, maximum);
  }
  _mm256_store_pd(range.minimum, minimum);
  _mm256_store_pd(range.maximum, maximum);
}

/// Gathers eight cells of four neighbours.
template <Form form, bool measures>
inline void gather_tile(const Comb& comb, int number, const std::byte* memory, int64_t stride, int64_t packed_offset) {
  __m256d low[4];
  __m256d high[4];
  for (int i = 0; i < 4; ++i) {
    low[i] = load_8(memory + i * stride);
    high[i] = load_8(memory + (i + 4) * stride);
  }
  if constexpr (measures) {
    measure_rows(comb.tile_ranges[number], low);
    measure_rows(comb.tile_ranges[number], high);
  }
  transpose(low);
  transpose(high);
  for (int j = 0; j < 4; ++j) {
    store<form>(comb.packed[comb.tiles[number].first + j] + packed_offset, low[j], high[j]);
  }
}

/// Loads four elements, `stride` bytes apart.
inline __m256d load_column(const std::byte* memory, int64_t stride) {
  const auto pair = [&](int64_t i) {
    const auto* first = reinterpret_cast<const double*>(memory + i * stride);
    return _mm_loadh_pd(_mm_load_sd(first), reinterpret_cast<const double*>(memory + (i + 1) * stride));
  };
  return _mm256_insertf128_pd(_mm256_castpd128_pd256(pair(0)), pair(2), 1);
}

/// Widens the range by eight cells of one operand, one cell per lane.
inline void measure_column(LaneRange& range, __m256d low, __m256d high) {
  _mm256_store_pd(range.minimum, _mm256_min_pd(low, _mm256_load_pd(range.minimum)));
  _mm256_store_pd(range.minimum + 4, _mm256_min_pd(high, _mm256_load_pd(range.minimum + 4)));
  _mm256_store_pd(range.maximum, _mm256_max_pd(low, _mm256_load_pd(range.maximum)));
  _mm256_store_pd(range.maximum + 4, _mm256_max_pd(high, _mm256_load_pd(range.maximum + 4)));
}

/// Moves the cells of operands [first, first + count), one operand after another.
template <Form form, bool measures>
inline void gather_few(const Comb& comb, int first, int count, const Row& row, int64_t packed_offset) {
  constexpr bool kComputes = measures || form == Form::kFloat || form == Form::kFloatSwapped;
  for (int k = first; k < first + count; ++k) {
    const std::byte* memory = comb.memory[k] + row.offset;
    std::byte* packed = comb.packed[k] + packed_offset;
    int64_t done = 0;
    for (; kComputes && done + kCells <= row.count; done += kCells) {
      const __m256d low = load_column(memory + done * row.stride, row.stride);
      const __m256d high = load_column(memory + (done + 4) * row.stride, row.stride);
      store<form>(packed + done * packed_width<uint64_t, form>(), low, high);
      if constexpr (measures) {
        measure_column(comb.ranges[k], low, high);
      }
    }
    gather_scalar<uint64_t, form, measures>(memory + done * row.stride, row.stride, row.count - done,
                                            packed + done * packed_width<uint64_t, form>(),
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
      if (tile.count == 4 && cells == kCells) {
        gather_tile<form, measures>(comb, t, comb.memory[tile.first] + offset, row.stride, packed);
      } else {
        gather_few<form, measures>(comb, tile.first, tile.count, {offset, row.stride, cells}, packed);
      }
    }
  }
}

template <Form form>
inline void scatter_tile(const Comb& comb, const Tile& tile, std::byte* memory, int64_t stride, int64_t packed_offset) {
  __m256d low[4];
  __m256d high[4];
  for (int j = 0; j < 4; ++j) {
    const std::byte* packed = comb.packed[tile.first + j] + packed_offset;
    low[j] = form == Form::kSwapped ? swap(load_8(packed)) : load_8(packed);
    high[j] = form == Form::kSwapped ? swap(load_8(packed + 32)) : load_8(packed + 32);
  }
  transpose(low);
  transpose(high);
  for (int i = 0; i < 4; ++i) {
    store_8(memory + i * stride, low[i]);
    store_8(memory + (i + 4) * stride, high[i]);
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
      if (tile.count == 4 && cells == kCells) {
        scatter_tile<form>(comb, tile, comb.memory[tile.first] + offset, row.stride, packed);
        continue;
      }
      for (int k = tile.first; k < tile.first + tile.count; ++k) {
        scatter_scalar<uint64_t, form>(comb.memory[k] + offset, row.stride, cells, comb.packed[k] + packed);
      }
    }
  }
}

template <Form form>
void gather_4(const Comb& comb, const Row& row, int64_t packed_offset) {
  for (int64_t done = 0; done < row.count; done += kCells) {
    const int64_t cells = row.count - done < kCells ? row.count - done : kCells;
    const int64_t offset = row.offset + done * row.stride;
    const int64_t packed = packed_offset + done * 4;
    for (int t = 0; t < comb.tile_count; ++t) {
      const Tile& tile = comb.tiles[t];
      if (tile.count == 8 && cells == kCells) {
        __m256 rows[8];
        for (int i = 0; i < 8; ++i) {
          rows[i] = load_4(comb.memory[tile.first] + offset + i * row.stride);
        }
        transpose(rows);
        for (int j = 0; j < 8; ++j) {
          store_4(comb.packed[tile.first + j] + packed, form == Form::kSwapped ? swap(rows[j]) : rows[j]);
        }
        continue;
      }
      for (int k = tile.first; k < tile.first + tile.count; ++k) {
        gather_scalar<uint32_t, form, false>(comb.memory[k] + offset, row.stride, cells, comb.packed[k] + packed, nullptr);
      }
    }
  }
}

template <Form form>
void scatter_4(const Comb& comb, const Row& row, int64_t packed_offset) {
  for (int64_t done = 0; done < row.count; done += kCells) {
    const int64_t cells = row.count - done < kCells ? row.count - done : kCells;
    const int64_t offset = row.offset + done * row.stride;
    const int64_t packed = packed_offset + done * 4;
    for (int t = 0; t < comb.tile_count; ++t) {
      const Tile& tile = comb.tiles[t];
      if (tile.count == 8 && cells == kCells) {
        __m256 rows[8];
        for (int j = 0; j < 8; ++j) {
          const __m256 values = load_4(comb.packed[tile.first + j] + packed);
          rows[j] = form == Form::kSwapped ? swap(values) : values;
        }
        transpose(rows);
        for (int i = 0; i < 8; ++i) {
          store_4(comb.memory[tile.first] + offset + i * row.stride, rows[i]);
        }
        continue;
      }
      for (int k = tile.first; k < tile.first + tile.count; ++k) {
        scatter_scalar<uint32_t, form>(comb.memory[k] + offset, row.stride, cells, comb.packed[k] + packed);
      }
    }
  }
}

KernelTable make_table() {
  // These serve for widening to double, and where nothing is computed.
  KernelTable table = portable_kernels();
  table.slots8 = 4;
  table.slots4 = 8;
  table.least8 = 4;
  table.least4 = 8;
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
  table.gather4[0] = each_row<gather_4<Form::kRaw>, 4>;
  table.gather4[1] = each_row<gather_4<Form::kSwapped>, 4>;
  table.scatter8[0] = each_row<scatter<Form::kRaw>, 8>;
  table.scatter8[1] = each_row<scatter<Form::kSwapped>, 8>;
  table.scatter4[0] = each_row<scatter_4<Form::kRaw>, 4>;
  table.scatter4[1] = each_row<scatter_4<Form::kSwapped>, 4>;
  return table;
}

}  // namespace

const KernelTable& avx2_kernels() {
  static const KernelTable table = make_table();
  return table;
}

}  // namespace stria::pack

#endif
