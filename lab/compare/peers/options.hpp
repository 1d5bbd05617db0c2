// The options of the peers' bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/parameters.hpp"

namespace stria::bench {

/// The command line, resolved. Printed into the JSON so that a figure can be repeated.
struct Options {
  flash::WorkloadParameters workload;
  /// Blocks per rank for modes that move 8 bytes at a time; 0: about 4 MB per rank.
  int64_t slow_blocks = 0;
  int64_t rounds = 5;  ///< measured rounds; one more is run first and discarded
  int64_t plot_variables = 3;
  int64_t staging_bytes = int64_t{4} << 20;
  std::string directory = ".";
  std::string values;              ///< Unk::take_values(), or empty
  std::vector<std::string> modes;  ///< empty: every mode of the chosen kinds
  bool sync = false;
  bool plotfile = false;
  bool read = false;
  bool verify = false;
  bool keep = false;
  bool list_modes = false;
  std::string json_path;
};

/// Says what to do after parsing: run, or leave with `exit_code` after printing `message`.
struct ParsedOptions {
  Options options;
  bool run = true;
  int exit_code = 0;
  std::string message;
};

/// Parses and checks the command line. Prints nothing, so that every rank may call it. Bad input
/// gives exit code 2.
ParsedOptions parse_options(int argc, char** argv);

/// Returns the blocks per rank of the slow modes' smaller workload; never more than the smallest
/// rank of the full workload has.
int64_t slow_blocks_per_rank(const Options& options);

}  // namespace stria::bench
