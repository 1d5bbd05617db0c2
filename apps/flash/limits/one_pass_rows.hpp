// The transposing row kernel, compiled once for each instruction set (hence the unnamed namespace: the copies must not merge).
#pragma once

#include <cstdint>
#include <cstring>

namespace stria::flash {

/// A row: `cells` cells of `variables` doubles side by side on one side, `variables` runs of `cells` doubles on the other.
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

/// Transposes a Width x Width matrix of doubles: `out[n][m] = in[m][n]`, strides in doubles.
template <int Width>
inline void transpose_square(const double* in, int64_t in_stride, double* out, int64_t out_stride) {
  if constexpr (Width == 1) {
    *out = *in;
  } else {
    using Vector = typename VectorOf<Width>::Type;
    Vector rows[Width];
    for (int n = 0; n < Width; ++n) {
      std::memcpy(&rows[n], in + n * in_stride, sizeof(Vector));
    }
    if constexpr (Width == 2) {
      const Vector first = __builtin_shufflevector(rows[0], rows[1], 0, 2);
      rows[1] = __builtin_shufflevector(rows[0], rows[1], 1, 3);
      rows[0] = first;
    } else if constexpr (Width == 4) {
      Vector pairs[4];
      for (int n = 0; n < 4; n += 2) {  // exchange neighbours, then halves
        pairs[n] = __builtin_shufflevector(rows[n], rows[n + 1], 0, 4, 2, 6);
        pairs[n + 1] = __builtin_shufflevector(rows[n], rows[n + 1], 1, 5, 3, 7);
      }
      for (int n = 0; n < 2; ++n) {
        rows[n] = __builtin_shufflevector(pairs[n], pairs[n + 2], 0, 1, 4, 5);
        rows[n + 2] = __builtin_shufflevector(pairs[n], pairs[n + 2], 2, 3, 6, 7);
      }
    } else {
      static_assert(Width == 8);
      Vector pairs[8];
      for (int n = 0; n < 8; n += 2) {  // exchange neighbours, then pairs, then halves
        pairs[n] = __builtin_shufflevector(rows[n], rows[n + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        pairs[n + 1] = __builtin_shufflevector(rows[n], rows[n + 1], 1, 9, 3, 11, 5, 13, 7, 15);
      }
      Vector quads[8];
      for (int n = 0; n < 8; n += n % 4 == 1 ? 3 : 1) {
        quads[n] = __builtin_shufflevector(pairs[n], pairs[n + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        quads[n + 2] = __builtin_shufflevector(pairs[n], pairs[n + 2], 2, 3, 10, 11, 6, 7, 14, 15);
      }
      for (int n = 0; n < 4; ++n) {
        rows[n] = __builtin_shufflevector(quads[n], quads[n + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        rows[n + 4] = __builtin_shufflevector(quads[n], quads[n + 4], 4, 5, 6, 7, 12, 13, 14, 15);
      }
    }
    for (int n = 0; n < Width; ++n) {
      std::memcpy(out + n * out_stride, &rows[n], sizeof(Vector));
    }
  }
}

/// Packs the variables from `first` on, Width at a time; what is left over goes to the kernel of half the width.
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
