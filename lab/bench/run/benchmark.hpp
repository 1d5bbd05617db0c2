// Runs a workload through a layer: rounds of a write and a read, timed from a barrier to the return
// of the slowest rank.
//
// The first round warms up and is not counted.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "layer/layer.hpp"
#include "workload/catalog.hpp"

namespace stria::bench {

struct BenchOptions {
  const WorkloadKind* kind = nullptr;
  Chosen chosen;
  std::string through = "library";  ///< "library", "mpiio" or "posix"
  LayerOptions layer;
  std::string directory = ".";
  int rounds = 3;
  bool warm_up = true;  ///< with a round before them that isn't counted
  bool read = false;    ///< also read back
  int reads_from = 0;   ///< each rank reads what the rank so many further on wrote
  bool verify = false;  ///< check every byte of the file, and every byte read
  bool keep = false;    ///< leave the last round's file
};

/// One direction's rounds. Phases are means over the ranks.
struct Direction {
  std::vector<double> seconds;
  std::map<std::string, std::vector<double>> phases;
  int64_t requests = -1;  ///< what all ranks asked the layer below in the last round; -1: unknown
  int64_t request_bytes = -1;
  /// What all ranks exchanged with the servers of a store in the last round: requests, bytes sent,
  /// bytes received.
  std::array<int64_t, 3> traffic{-1, -1, -1};
  /// What the rank executed that executed the most, outside the kernel, in the last round.
  int64_t instructions = -1;
  std::string method;  ///< the method of the last round, and why
  std::string reason;
};

struct BenchResult {
  int64_t useful_bytes = 0;   ///< the bytes of all ranks
  int64_t stretches = 0;      ///< the stretches of the file that rank 0 touches
  RequestCounts counts;       ///< what rank 0's calls need with each method
  int64_t growth_bytes = -1;  ///< the most that a rank held above its arrays
  Direction write;
  Direction read;
  std::string file;  ///< where it was kept
};

/// Throws stria::Error, the same on all ranks. `progress` is called on rank 0. Collective: yes.
BenchResult run_benchmark(MPI_Comm comm, const BenchOptions& options, const std::function<void(const std::string&)>& progress);

}  // namespace stria::bench
