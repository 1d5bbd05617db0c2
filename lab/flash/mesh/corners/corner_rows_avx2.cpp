// Four variables of a cell share a vector, so that a cell is read once for all of them and the sums
// need no transposition; the results of a row are transposed when they are stored.
#include <cstring>
#include <memory>

#include "mesh/corners/corner_rows.hpp"

namespace stria::flash {
namespace {

constexpr int64_t kLanes = 4;

typedef double Doubles __attribute__((vector_size(kLanes * sizeof(double))));
typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));

// Four variables; where there are fewer, the last one is repeated.
struct Quad {
  int variable[kLanes];
  float* corners[kLanes];
  int64_t count;

  Doubles load(const double* cell) const {
    return Doubles{cell[variable[0]], cell[variable[1]], cell[variable[2]], cell[variable[3]]};
  }
};

struct Sums {
  Doubles* here;          // along x, of this row
  const Doubles* before;  // the same of the row before
  Doubles* below;         // along x and y, of the plane below
};

enum class Row { kFirst, kOfFirstPlane, kWithCorners };

template <Row kRow, typename Ask>
void pass_row(const Quad& quad, const double* cell, int64_t stride, int64_t nx, const Sums& sums, double share, Floats* values,
              Ask ask) {
  Doubles last = quad.load(cell);
  ask(0);
  for (int64_t i = 0; i < nx; ++i) {
    ask(i + 1);
    cell += stride;
    const Doubles next = quad.load(cell);
    const Doubles pair = last + next;
    last = next;
    sums.here[i] = pair;
    if constexpr (kRow != Row::kFirst) {
      const Doubles square = sums.before[i] + pair;
      if constexpr (kRow == Row::kWithCorners) {
        values[i] = __builtin_convertvector((sums.below[i] + square) * share, Floats);
      }
      sums.below[i] = square;
    }
  }
}

void store_row(const Floats* values, int64_t nx, const Quad& quad, int64_t offset) {
  int64_t i = 0;
  for (; i + kLanes <= nx; i += kLanes) {
    const Floats low_01 = __builtin_shufflevector(values[i], values[i + 1], 0, 4, 1, 5);
    const Floats low_23 = __builtin_shufflevector(values[i + 2], values[i + 3], 0, 4, 1, 5);
    const Floats high_01 = __builtin_shufflevector(values[i], values[i + 1], 2, 6, 3, 7);
    const Floats high_23 = __builtin_shufflevector(values[i + 2], values[i + 3], 2, 6, 3, 7);
    const Floats columns[kLanes] = {
        __builtin_shufflevector(low_01, low_23, 0, 1, 4, 5), __builtin_shufflevector(low_01, low_23, 2, 3, 6, 7),
        __builtin_shufflevector(high_01, high_23, 0, 1, 4, 5), __builtin_shufflevector(high_01, high_23, 2, 3, 6, 7)};
    for (int64_t v = 0; v < quad.count; ++v) {
      std::memcpy(quad.corners[v] + offset + i, &columns[v], sizeof(Floats));
    }
  }
  for (; i < nx; ++i) {
    for (int64_t v = 0; v < quad.count; ++v) {
      quad.corners[v][offset + i] = values[i][v];
    }
  }
}

std::vector<Quad> quads_of(const CornerBlock& block) {
  std::vector<Quad> quads;
  for (size_t first = 0; first < block.variables.size(); first += kLanes) {
    Quad quad{};
    quad.count = std::min<int64_t>(kLanes, static_cast<int64_t>(block.variables.size() - first));
    for (int64_t v = 0; v < kLanes; ++v) {
      const size_t from = first + static_cast<size_t>(std::min(v, quad.count - 1));
      quad.variable[v] = block.variables[from];
      quad.corners[v] = block.corners[from];
    }
    quads.push_back(quad);
  }
  return quads;
}

}  // namespace

void interpolate_avx2(const CornerBlock& block) {
  const BlockShape& shape = block.shape;
  const int64_t nx = shape.cells[0] + 1;
  const int64_t ny = shape.cells[1] + 1;
  const int64_t stride = shape.stride(0);
  const double share = shape.dim == 3 ? 0.125 : 0.25;
  const std::vector<Quad> quads = quads_of(block);
  const std::vector<int> points = line_points(block.variables);
  const auto count = static_cast<int64_t>(quads.size());
  // Sums along x of two rows; those of the plane below, zero where there is none.
  const auto pairs = std::make_unique<Doubles[]>(static_cast<size_t>(2 * count * nx));
  const auto squares = std::make_unique<Doubles[]>(static_cast<size_t>(count * nx * ny));
  const auto values = std::make_unique<Floats[]>(static_cast<size_t>(nx));
  for_each_corner_row(block, [&](int64_t j, int64_t k, const double* row, const double* ahead) {
    for (int64_t q = 0; q < count; ++q) {
      const auto pairs_of = [&](int64_t of) { return pairs.get() + ((of & 1) * count + q) * nx; };
      const Sums sums{pairs_of(j), pairs_of(j - 1), squares.get() + (q * ny + std::max<int64_t>(j, 0)) * nx};
      const auto ask = [&](int64_t i) {
        for (size_t p = 0; q == 0 && p < points.size(); ++p) {
          __builtin_prefetch(ahead + i * stride + points[p], 0, 2);
        }
      };
      if (j < 0) {
        pass_row<Row::kFirst>(quads[q], row, stride, nx, sums, share, values.get(), ask);
      } else if (k < 0) {
        pass_row<Row::kOfFirstPlane>(quads[q], row, stride, nx, sums, share, values.get(), ask);
      } else {
        pass_row<Row::kWithCorners>(quads[q], row, stride, nx, sums, share, values.get(), ask);
        store_row(values.get(), nx, quads[q], (k * ny + j) * nx);
      }
    }
  });
}

}  // namespace stria::flash
