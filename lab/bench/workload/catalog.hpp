// The workloads by name: the parameters of each, and how one rank's part is made.
//
// Sources: coll_perf and noncontig (ROMIO), MPI-Tile-IO (Parallel I/O Benchmarking Consortium), NAS
// BT-IO (NPB 3), IOR, S3D's checkpoint and the parallel open (Yu, Vetter, Oral 2008); 1-D cyclic,
// block-block, FLASH I/O and the tiled display (Ching and others 2002); the convection code's
// output (Thakur and others 1995); the Sedov blast (Latham and others 2012).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workload/workload.hpp"

namespace stria::bench {

inline constexpr int64_t kKiB = 1 << 10;
inline constexpr int64_t kMiB = 1 << 20;

/// A whole number that can be chosen.
struct Parameter {
  std::string name;
  int64_t standard = 0;
  int64_t lowest = 0;
  int64_t highest = 0;
  std::string help;
};

/// A word that can be chosen; the first is the default.
struct Choice {
  std::string name;
  std::vector<std::string> words;
  std::string help;
};

/// Says what was chosen, or the default.
struct Chosen {
  std::map<std::string, int64_t> numbers;
  std::map<std::string, std::string> words;
};

struct Ranks {
  int rank = 0;
  int count = 1;
};

struct WorkloadKind {
  std::string name;
  std::string help;
  std::vector<Parameter> parameters;
  std::vector<Choice> choices;
  /// Throws stria::Error (kInvalidArgument), the same on all ranks, for an impossible choice or
  /// number of ranks.
  std::function<Workload(const Chosen& chosen, const Ranks& ranks)> make;

  Chosen standards() const;
};

/// Returns all of them, sorted as the command lists them.
const std::vector<WorkloadKind>& workload_kinds();

// Puts each in a file of its own.
WorkloadKind block3d_kind();
WorkloadKind block_block_kind();
WorkloadKind btio_kind();
WorkloadKind convection_kind();
WorkloadKind cyclic_kind();
WorkloadKind display_kind();
WorkloadKind flash_kind();
WorkloadKind ior_kind();
WorkloadKind noncontig_kind();
WorkloadKind open_kind();
WorkloadKind pieces_kind();
WorkloadKind s3d_kind();
WorkloadKind sedov_kind();
WorkloadKind tile_kind();
WorkloadKind turns_kind();

}  // namespace stria::bench
