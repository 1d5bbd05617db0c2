// The bench's results, as a table for people and as JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "peers/rounds.hpp"

namespace stria::bench {

/// Returns the median of the measured rounds. \pre there is at least one
double median_seconds(const ModeResult& result);

/// Returns the results as JSON: modes with median, minimum and maximum of seconds and MB/s (10^6
/// useful bytes), phases, rounds.
std::string to_json(const std::vector<ModeResult>& results, const Options& options, int ranks);

/// Returns the results as a table for the screen.
std::string to_table(const std::vector<ModeResult>& results, const Options& options, int ranks);

/// Says on a terminal which round is running; silent elsewhere.
void show_progress(int64_t round, int64_t rounds);

}  // namespace stria::bench
