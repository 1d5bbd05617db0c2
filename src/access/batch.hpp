// Cuts one rank's streams into batches that fit a staging buffer, variables in lockstep.
//
// The k-th streams of the lanes of one group form a panel; a panel is cut across, so that each batch holds the same rows of all
// its variables and the packer reads every cache line once. Small panels share a batch. Cost: O(streams) memory, no piece is
// listed here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "access/request.hpp"

namespace stria::access {

/// A range of a stream that a batch holds.
struct BatchPart {
  const Stream* stream = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// Calls `flush` with successive batches of at most `batch_bytes` until all bytes of `lanes` were in
/// one, or flush returns an error, which is returned. \pre batch_bytes > 0
Status for_each_batch(std::span<const Lane> lanes, int64_t batch_bytes,
                      const std::function<Status(std::span<const BatchPart>)>& flush);

}  // namespace stria::access
