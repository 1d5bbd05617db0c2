// Runs the modes in turn, round by round, and keeps what each round took on the slowest rank.
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "peers/modes.hpp"
#include "peers/options.hpp"

namespace stria::bench {

inline constexpr std::array<const char*, 5> kPhaseNames = {"open", "pack", "write", "sync", "close"};

/// Says what one measured round took; every figure is that of the slowest rank.
struct Sample {
  double seconds = 0;
  std::array<double, kPhaseNames.size()> phases{};
};

/// A mode's measured rounds.
struct ModeResult {
  std::string name;
  ModeKind kind = ModeKind::kCheckpoint;
  int64_t total_blocks = 0;
  int64_t useful_bytes = 0;
  int64_t file_bytes = 0;  ///< the bytes of the last file that was written; 0: it isn't one file
  std::vector<Sample> samples;
  bool verified = false;  ///< checked, and every value was right
  std::string note;       ///< e.g. which of two ways a limit stands for
};

/// The arrays of both workloads of one rank.
struct BenchData {
  std::unique_ptr<RankData> full;
  std::unique_ptr<RankData> slow;      ///< the smaller one; null when no slow mode is chosen
  std::unique_ptr<flash::Unk> target;  ///< null when nothing is read
};

/// Returns the modes that the options choose.
std::vector<Mode> chosen_modes(const Options& options);

/// Allocates and fills what the modes need. Collective: yes. Ends the job when memory runs out.
BenchData make_data(const Options& options, const std::vector<Mode>& modes, MPI_Comm comm);

/// Runs every mode once to warm up and then `rounds` times, the modes interleaved. Collective: yes.
/// Ends the job when a mode fails or writes a wrong value.
std::vector<ModeResult> run_rounds(const Options& options, const std::vector<Mode>& modes, BenchData* data, MPI_Comm comm);

/// Adds `limit-pack`: the better of the whole and the staged way, by median.
void add_packed_limit(std::vector<ModeResult>* results);

}  // namespace stria::bench
