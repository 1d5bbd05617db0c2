// Describes how the filter nbit takes elements apart, as its values say (H5Znbit.c).
#pragma once

#include <cstdint>
#include <optional>

#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

/// An element, or a part of one: its size, and the bits of it that are stored.
struct NbitElement {
  int64_t bytes = 0;
  int64_t bits = 0;
};

/// Takes the description of an element from the values. Nothing where it makes no sense: parts that
/// don't fit into what holds them, or more bits than there are.
std::optional<NbitElement> nbit_element(Decoder& values, int depth = 0);

}  // namespace stria::container::h5
