// Says which filters the chunks of an input have passed.
#pragma once

#include <cstdint>

#include "container/spec.hpp"

namespace stria {

/// Takes from the bits of a byte what the chunks are: they have 1 to 8 elements of 8 bytes.
inline container::DatasetSpec fuzzed_chunks(uint8_t kind) {
  container::DatasetSpec spec;
  Filters filters{
      .shuffle = (kind & 2) != 0, .deflate = (kind & 4) != 0, .zstd = (kind & 8) != 0, .fletcher32 = (kind & 16) != 0};
  if (filters.deflate && filters.zstd) {  // stands for the filters that come first
    filters.deflate = false;
    filters.zstd = false;
    if (filters.shuffle) {
      filters.shuffle = false;
      const int mode = (kind >> 5) % 3;
      filters.zfp_absolute = mode == 0 ? 0.25 : 0;
      filters.zfp_reversible = mode == 1;
      filters.zfp_rate = mode == 2 ? 5 : 0;
    } else {
      filters.scale_offset = true;
      spec.element = container::ElementSpec::of_number(ElementType::kInt64);
    }
  }
  spec.chunking = container::Chunking{{(filters.zfp() ? 2 : 1) + (kind >> 5)}, filters};
  return spec;
}

}  // namespace stria
