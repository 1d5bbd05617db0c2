// stria bench: its options, and the text of its results.
#pragma once

#include <string>

#include "commands_of_mpi.hpp"
#include "run/benchmark.hpp"

namespace stria::tool {

/// Says what the results say besides the figures.
struct BenchRun {
  const bench::BenchOptions& options;
  int ranks = 1;
};

/// Returns the results as text for people, as JSON for programs, and as rows of a table with a
/// heading.
std::string bench_text(const BenchRun& run, const bench::BenchResult& result);
std::string bench_json(const BenchRun& run, const bench::BenchResult& result);
std::string bench_csv(const BenchRun& run, const bench::BenchResult& result);

}  // namespace stria::tool
