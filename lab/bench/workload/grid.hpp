// Describes how ranks are arranged.
#pragma once

#include <string>
#include <vector>

#include "workload/catalog.hpp"

namespace stria::bench {

/// `ranks` as a product of `dimensions` numbers that are as near to each other as possible, larger
/// ones first, as by MPI_Dims_create.
std::vector<int64_t> balanced_grid(int ranks, int dimensions);

/// Returns the place of a rank in a grid whose last dimension is the fastest.
std::vector<int64_t> place_in_grid(int rank, const std::vector<int64_t>& grid);

/// Returns the side of a square of ranks. Throws stria::Error where there is none.
int64_t square_side(const std::string& workload, const Ranks& ranks);

}  // namespace stria::bench
