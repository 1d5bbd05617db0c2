// The transposing row kernel, compiled once for each instruction set (hence the unnamed namespace:
// the copies must not merge).
#pragma once

#include <cstdint>
#include <cstring>

namespace stria::flash {

/// A row: `cells` cells of `variables` doubles side by side on one side, `variables` runs of
/// `cells` doubles on the other.
struct Row {
  int64_t cells = 0;
  int64_t variables = 0;
  int64_t variable_stride = 0;  ///< doubles from a run to the next
};

void pack_row_portable(const double* cells, const Row& row, double* runs);
void pack_row_avx2(const double* cells, const Row& row, double* runs);
void pack_row_avx512(const double* cells, const Row& row, double* runs);
void unpack_row_portable(const double* runs, const Row& row, double* cells);
void unpack_row_avx2(const double* runs, const Row& row, double* cells);
void unpack_row_avx512(const double* runs, const Row& row, double* cells);

namespace {

template <int Width>
struct VectorOf {
  typedef double Type __attribute__((vector_size(Width * sizeof(double))));
};

// The transposes are written out. From a loop the compiler makes code that keeps the rows on the
// stack and takes three times as long. Each stage exchanges ever larger pieces between two rows:
// neighbours, pairs, halves.

template <typename Vector>
[[gnu::always_inline]] inline void load(Vector* row, const double* from) {
  std::memcpy(row, from, sizeof(Vector));
}

template <typename Vector>
[[gnu::always_inline]] inline void store(const Vector& row, double* to) {
  std::memcpy(to, &row, sizeof(Vector));
}

[[gnu::always_inline]] inline void transpose_2(const double* in, int64_t in_stride, double* out, int64_t out_stride) {
  VectorOf<2>::Type a, b;
  load(&a, in);
  load(&b, in + in_stride);
  store(__builtin_shufflevector(a, b, 0, 2), out);
  store(__builtin_shufflevector(a, b, 1, 3), out + out_stride);
}

[[gnu::always_inline]] inline void transpose_4(const double* in, int64_t in_stride, double* out, int64_t out_stride) {
  VectorOf<4>::Type a, b, c, d;
  load(&a, in);
  load(&b, in + in_stride);
  load(&c, in + 2 * in_stride);
  load(&d, in + 3 * in_stride);
  const auto ab_even = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const auto ab_odd = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const auto cd_even = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const auto cd_odd = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  store(__builtin_shufflevector(ab_even, cd_even, 0, 1, 4, 5), out);
  store(__builtin_shufflevector(ab_odd, cd_odd, 0, 1, 4, 5), out + out_stride);
  store(__builtin_shufflevector(ab_even, cd_even, 2, 3, 6, 7), out + 2 * out_stride);
  store(__builtin_shufflevector(ab_odd, cd_odd, 2, 3, 6, 7), out + 3 * out_stride);
}

/// The first two stages of an 8 x 8 transpose on four of its rows: `columns[n]` holds column n of
/// them in its lower half of each pair of quarters and column n + 4 in the upper.
[[gnu::always_inline]] inline void transpose_8_quarter(const double* in, int64_t in_stride, VectorOf<8>::Type columns[4]) {
  VectorOf<8>::Type a, b, c, d;
  load(&a, in);
  load(&b, in + in_stride);
  load(&c, in + 2 * in_stride);
  load(&d, in + 3 * in_stride);
  const auto ab_even = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
  const auto ab_odd = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  const auto cd_even = __builtin_shufflevector(c, d, 0, 8, 2, 10, 4, 12, 6, 14);
  const auto cd_odd = __builtin_shufflevector(c, d, 1, 9, 3, 11, 5, 13, 7, 15);
  columns[0] = __builtin_shufflevector(ab_even, cd_even, 0, 1, 8, 9, 4, 5, 12, 13);
  columns[1] = __builtin_shufflevector(ab_odd, cd_odd, 0, 1, 8, 9, 4, 5, 12, 13);
  columns[2] = __builtin_shufflevector(ab_even, cd_even, 2, 3, 10, 11, 6, 7, 14, 15);
  columns[3] = __builtin_shufflevector(ab_odd, cd_odd, 2, 3, 10, 11, 6, 7, 14, 15);
}

[[gnu::always_inline]] inline void transpose_8(const double* in, int64_t in_stride, double* out, int64_t out_stride) {
  VectorOf<8>::Type upper[4];
  VectorOf<8>::Type lower[4];
  transpose_8_quarter(in, in_stride, upper);
  transpose_8_quarter(in + 4 * in_stride, in_stride, lower);
  store(__builtin_shufflevector(upper[0], lower[0], 0, 1, 2, 3, 8, 9, 10, 11), out);
  store(__builtin_shufflevector(upper[1], lower[1], 0, 1, 2, 3, 8, 9, 10, 11), out + out_stride);
  store(__builtin_shufflevector(upper[2], lower[2], 0, 1, 2, 3, 8, 9, 10, 11), out + 2 * out_stride);
  store(__builtin_shufflevector(upper[3], lower[3], 0, 1, 2, 3, 8, 9, 10, 11), out + 3 * out_stride);
  store(__builtin_shufflevector(upper[0], lower[0], 4, 5, 6, 7, 12, 13, 14, 15), out + 4 * out_stride);
  store(__builtin_shufflevector(upper[1], lower[1], 4, 5, 6, 7, 12, 13, 14, 15), out + 5 * out_stride);
  store(__builtin_shufflevector(upper[2], lower[2], 4, 5, 6, 7, 12, 13, 14, 15), out + 6 * out_stride);
  store(__builtin_shufflevector(upper[3], lower[3], 4, 5, 6, 7, 12, 13, 14, 15), out + 7 * out_stride);
}

/// Transposes a Width x Width matrix of doubles: `out[n][m] = in[m][n]`, strides in doubles.
template <int Width>
[[gnu::always_inline]] inline void transpose_square(const double* in, int64_t in_stride, double* out, int64_t out_stride) {
  if constexpr (Width == 1) {
    *out = *in;
  } else if constexpr (Width == 2) {
    transpose_2(in, in_stride, out, out_stride);
  } else if constexpr (Width == 4) {
    transpose_4(in, in_stride, out, out_stride);
  } else {
    static_assert(Width == 8);
    transpose_8(in, in_stride, out, out_stride);
  }
}

/// Packs the variables from `first` on, Width at a time; the rest goes to the kernel of
/// half the width.
template <int Width>
inline void pack_row_from(int64_t first, const double* cells, const Row& row, double* runs) {
  int64_t variable = first;
  for (; variable + Width <= row.variables; variable += Width) {
    const double* in = cells + variable;
    double* out = runs + variable * row.variable_stride;
    int64_t cell = 0;
    for (; cell + Width <= row.cells; cell += Width) {
      transpose_square<Width>(in + cell * row.variables, row.variables, out + cell, row.variable_stride);
    }
    for (; cell < row.cells; ++cell) {
      for (int64_t n = 0; n < Width; ++n) {
        out[n * row.variable_stride + cell] = in[cell * row.variables + n];
      }
    }
  }
  if constexpr (Width > 1) {
    if (variable < row.variables) {
      pack_row_from<Width / 2>(variable, cells, row, runs);
    }
  }
}

template <int Width>
inline void unpack_row_from(int64_t first, const double* runs, const Row& row, double* cells) {
  int64_t variable = first;
  for (; variable + Width <= row.variables; variable += Width) {
    const double* in = runs + variable * row.variable_stride;
    double* out = cells + variable;
    int64_t cell = 0;
    for (; cell + Width <= row.cells; cell += Width) {
      transpose_square<Width>(in + cell, row.variable_stride, out + cell * row.variables, row.variables);
    }
    for (; cell < row.cells; ++cell) {
      for (int64_t n = 0; n < Width; ++n) {
        out[cell * row.variables + n] = in[n * row.variable_stride + cell];
      }
    }
  }
  if constexpr (Width > 1) {
    if (variable < row.variables) {
      unpack_row_from<Width / 2>(variable, runs, row, cells);
    }
  }
}

}  // namespace
}  // namespace stria::flash
