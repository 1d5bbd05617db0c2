// Cuts one rank's streams into batches that fit a staging buffer, variables in lockstep.
//
// The k-th streams of the lanes of one group form a panel. A panel is cut across. So each batch
// holds the same rows of all its variables, and the packer reads every cache line once. Small
// panels share a batch.
// Cost: O(streams) memory, no piece is listed here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "access/request/request.hpp"

namespace stria::access {

/// A range of a stream that a batch holds.
struct BatchPart {
  const Stream* stream = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Says how large batches are. Where packing hides behind writing, ranks wait only for the packing
/// of the first batch, so it should be small. Each later one may be twice as large as the one
/// before.
struct BatchSizes {
  int64_t first_bytes = 0;
  int64_t most_bytes = 0;

  static BatchSizes all_alike(int64_t bytes) { return {bytes, bytes}; }
};

/// Calls `flush` with successive batches of at most these sizes, until all bytes of `lanes` were in
/// one. Ends with an error that flush returns. Rows are cut only where even the largest batch can't
/// hold one of each stream. \pre 0 < first_bytes <= most_bytes
Status for_each_batch(std::span<const Lane> lanes, BatchSizes sizes,
                      const std::function<Status(std::span<const BatchPart>)>& flush);

}  // namespace stria::access
