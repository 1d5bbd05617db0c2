// Describes what `stria tune` measures: a workload of `stria bench`, or the requests of a recorded
// run.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "command_line.hpp"
#include "run/benchmark.hpp"

namespace stria::tool {

struct Pattern {
  bench::WorkloadKind kind;
  bool collective = true;
  bool only_reads = false;  ///< only reading counts
  std::string told;         ///< what a recorded run did
};

/// Returns the name of a workload, or the path of a file.
Check known_pattern();

/// Throws stria::Error. Collective: yes.
Pattern pattern_of(MPI_Comm comm, const std::string& name);

/// Returns one round of the pattern with these sizes ("name=value", as options of `stria bench`).
/// The result refers to `pattern`. Throws stria::Error.
bench::BenchOptions options_of(const Pattern& pattern, const std::vector<std::string>& sizes);

}  // namespace stria::tool
