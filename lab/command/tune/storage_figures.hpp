// Describes what a storage does with plain requests: the figures behind the hints that win.
//
// Problem: a race says which hints are fastest, but not why, and not what to expect of others.
// Method: short runs of plain requests (through posix) that differ in one thing each: their length,
// the number of writers, whether ranks take turns, whether a request touches two stripes; and one
// aggregator with several buffers.
// Cost: `end_s` at most, and the run that has begun then. What there is no time for is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tune/candidates.hpp"
#include "tune/measuring.hpp"

namespace stria::tool {

struct StorageFigures {
  /// A length in bytes, and what was measured with it.
  using ByLength = std::vector<std::pair<int64_t, double>>;

  ByLength all_writers;              ///< MB/s by the length of a request, each rank in its part
  std::optional<double> one_writer;  ///< MB/s of rank 0 alone, with the longest of these requests
  std::optional<double> request_s;   ///< what a request costs beside its bytes
  ByLength turns;                    ///< the speed of writing in turn, of writing apart
  std::optional<double> crossing_s;  ///< what a request to two servers costs more
  ByLength aggregator;               ///< MB/s of one aggregator, by its buffer
};

/// Measures until `end_s` on the clock of the race. Collective: yes; every rank gets the same.
StorageFigures measure_storage(Measuring& measuring, const Machine& machine, double end_s);

/// Returns sentences, a line each.
std::vector<std::string> in_sentences(const StorageFigures& figures);

}  // namespace stria::tool
