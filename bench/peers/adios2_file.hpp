// The ADIOS2 calls that the modes share: the block lists, and the values that a file of BP5 holds.
#pragma once

#include <adios2.h>

#include <string>
#include <vector>

#include "peers/modes.hpp"

namespace stria::bench {

/// This rank's rows of an array of all blocks, as a selection of it.
struct BpRows {
  BpRows(const flash::BlockPartition& partition, const std::vector<int64_t>& entry_shape);
  adios2::Dims all, start, count;
};

/// Puts the block lists and the variables' names, to be written with the step. Collective: yes.
void put_bp_lists(adios2::IO* io, adios2::Engine* engine, const RankData& data);

/// Compares the lists in a file with this rank's. Empty, or which list differs. Not collective.
std::string check_bp_lists(const std::string& path, const RankData& data);

/// Copies this rank's values of `variables` out of a file of BP5, which says nowhere where they
/// lie, into one of its own beside them. Not collective.
flash::FileRuns export_bp_runs(const std::string& path, const RankData& data, const std::vector<int64_t>& variables,
                               int64_t element_bytes);

}  // namespace stria::bench
