// Packs all variables of AMR blocks in one pass over memory, and unpacks them: the best that
// packing alone can do.
// Problem: the variables of a cell lie side by side, and the file wants them apart. Packing one
// variable at a time reads every cache line nvar times.
// Method: a row of cells is a small matrix [cell][variable]; transpose it in registers, 8 x
// 8 with AVX-512.
// Cost: every cache line is read once and written once. This is for the limit only, and independent
// of the library's own kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/unk.hpp"

namespace stria::flash {

/// Says which instructions the kernels use.
enum class PackKernel { kPortable, kAvx2, kAvx512 };

/// Returns the fastest kernel that this CPU can run.
PackKernel best_pack_kernel();

/// True when this build has the kernel and this CPU can run it.
bool kernel_available(PackKernel kernel);

/// Consecutive local blocks.
struct BlockSpan {
  int64_t first = 0;
  int64_t count = 0;
};

/// Packs the interior of all variables of `blocks`: variable v of the span's block b goes to
/// `out[v * variable_stride + b * cells_per_block]`. \pre variable_stride >= blocks.count *
/// cells_per_block
void pack_one_pass(const Unk& unk, BlockSpan blocks, double* out, int64_t variable_stride,
                   PackKernel kernel = best_pack_kernel());

/// Does the reverse: fills the interior of all variables of `blocks` from packed values; guard
/// cells keep what they hold.
void unpack_one_pass(const double* in, int64_t variable_stride, BlockSpan blocks, Unk* unk,
                     PackKernel kernel = best_pack_kernel());

/// Packs some variables in one pass, narrowed to float: `variables[n]` goes to
/// `out[n * variable_stride + …]`.
void pack_one_pass_to_float(const Unk& unk, const std::vector<int64_t>& variables, BlockSpan blocks, float* out,
                            int64_t variable_stride);

}  // namespace stria::flash
