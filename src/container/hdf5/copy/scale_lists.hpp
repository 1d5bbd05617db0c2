// The lists of what dimension scales are attached to, made anew.
//
// Problem: HDF5 2.0 writes them in a type that older releases don't know, for the latest format.
// Method: each dataset names its scales, too. The lists are made of these names, in the type that
// every release knows.
// Cost: a look at every dataset.
#pragma once

#include <cstdint>
#include <vector>

#include "container/hdf5/copy/references.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Gives the copies of `scales`, which are addresses in the old file, their lists. They have none.
Status make_scale_lists(const CopiedPair& files, const CopiedObjects& objects, const std::vector<int64_t>& scales);

}  // namespace stria::container::h5
