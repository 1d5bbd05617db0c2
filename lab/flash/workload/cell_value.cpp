#include "workload/cell_value.hpp"

#include <fmt/format.h>

#include <cmath>

namespace stria::flash {
namespace {

// Newton's iteration doubles the correct low bits each time: 3, 6, 12, 24, 48.
constexpr uint64_t inverse_of_odd(uint64_t odd) {
  uint64_t inverse = odd;
  for (int step = 0; step < 5; ++step) {
    inverse *= 2 - odd * inverse;
  }
  return inverse & kCellIdMask;
}

bool is_interior(const WorkloadParameters& p, const CellPlace& place) {
  auto inside = [&](int64_t index) { return index >= 0 && index < p.nxb; };
  return inside(place.i) && inside(place.j) && inside(place.k);
}

}  // namespace

double expected_value(const WorkloadParameters& p, const CellPlace& place) {
  const int64_t side = p.padded_side();
  const int64_t id = first_interior_id(p, place.block, place.variable) + (place.k * side + place.j) * side + place.i;
  return value_of_id(id, !is_interior(p, place));
}

bool decode_value(const WorkloadParameters& p, double value, CellPlace* place) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
  if (((bits >> 52) & 0x7FF) != 0x3FF || (mantissa & ((uint64_t{1} << (52 - kCellIdBits)) - 1)) != 0) {
    return false;
  }
  const auto id = static_cast<int64_t>(((mantissa >> (52 - kCellIdBits)) * inverse_of_odd(kCellSpread)) & kCellIdMask);
  const int64_t side = p.padded_side();
  const int64_t cell = id % p.padded_cells_per_block();
  const int64_t array = id / p.padded_cells_per_block();
  *place = {array / p.nvar, array % p.nvar, cell % side - p.guard_cells, cell / side % side - p.guard_cells,
            cell / (side * side) - p.guard_cells};
  return std::signbit(value) == !is_interior(p, *place);
}

std::string describe_value(const WorkloadParameters& parameters, double value) {
  CellPlace place;
  if (!decode_value(parameters, value, &place)) {
    return fmt::format("{} (no cell's value)", value);
  }
  return fmt::format("{} (block {}, variable {}, cell i={} j={} k={})", value, place.block, place.variable, place.i, place.j,
                     place.k);
}

}  // namespace stria::flash
