// Packing as FLASH does it: one variable at a time out of the interleaved array, guard
// cells left out.
#pragma once

#include "workload/unk.hpp"

namespace stria::bench {

/// Copies the interior of one variable of all local blocks to `out`. T: double, or float to
/// narrow on the way.
template <typename T>
void pack_one_variable(const flash::Unk& unk, int64_t variable, T* out);

/// Does the reverse.
void unpack_one_variable(const double* in, int64_t variable, flash::Unk* unk);

}  // namespace stria::bench
