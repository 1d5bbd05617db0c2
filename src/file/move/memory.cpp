// The shapes that stria::Memory knows, as datatypes.
#include "stria/memory.hpp"

#include <fmt/format.h>

#include "file/move/element_map.hpp"

namespace stria {

namespace {

Datatype number_type(ElementType element) {
  return Datatype::bytes(element_bytes(element));
}

}  // namespace

Datatype Memory::box_type(ElementType element, const std::vector<int64_t>& sizes, const std::vector<int64_t>& starts,
                          const std::vector<int64_t>& counts, Order order) {
  return Datatype::subarray(sizes, counts, starts, order, number_type(element)).value();
}

Datatype Memory::interior_type(ElementType element, const std::vector<int64_t>& sizes, const std::vector<int64_t>& ghost_low,
                               const std::vector<int64_t>& ghost_high, Order order) {
  if (ghost_low.size() != sizes.size() || ghost_high.size() != sizes.size()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("an array of {} dimensions has ghost cells of {} and {}", sizes.size(),
                                                         ghost_low.size(), ghost_high.size()));
  }
  std::vector<int64_t> counts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || ghost_low[i] < 0 || ghost_low[i] > sizes[i] || ghost_high[i] < 0 ||
        ghost_high[i] > sizes[i] - ghost_low[i]) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("dimension {} of an array has {} cells, of which {} and {} are ghosts", i, sizes[i], ghost_low[i],
                              ghost_high[i]));
    }
    counts.push_back(sizes[i] - ghost_low[i] - ghost_high[i]);
  }
  return box_type(element, sizes, ghost_low, counts, order);
}

Datatype Memory::strided_type(ElementType element, int64_t count, int64_t stride_bytes) {
  return Datatype::hvector(count, 1, stride_bytes, number_type(element)).value();
}

Elements::Elements(std::span<const int64_t> offsets) : map_(file::ElementMap::create(offsets).value()) {}

int64_t Elements::count() const {
  return map_->count();
}

}  // namespace stria
