#include "limits/one_pass.hpp"

#include <cassert>

#include "limits/one_pass_rows.hpp"

namespace stria::flash {
namespace {

constexpr int64_t kCacheLineValues = 8;

using RowKernel = void (*)(const double*, const Row&, double*);

RowKernel pack_row_kernel(PackKernel kernel) {
#ifdef STRIA_FLASH_X86_KERNELS
  if (kernel == PackKernel::kAvx512) {
    return pack_row_avx512;
  }
  if (kernel == PackKernel::kAvx2) {
    return pack_row_avx2;
  }
#endif
  (void)kernel;
  return pack_row_portable;
}

RowKernel unpack_row_kernel(PackKernel kernel) {
#ifdef STRIA_FLASH_X86_KERNELS
  if (kernel == PackKernel::kAvx512) {
    return unpack_row_avx512;
  }
  if (kernel == PackKernel::kAvx2) {
    return unpack_row_avx2;
  }
#endif
  (void)kernel;
  return unpack_row_portable;
}

/// Calls `visit(offset of the row in unk, index of its first cell in the span)` for every interior
/// row of the span.
template <typename Visit>
void for_each_row(const Unk& unk, BlockSpan blocks, Visit visit) {
  const int64_t side = unk.parameters().nxb;
  int64_t packed_cell = 0;
  for (int64_t block = blocks.first; block < blocks.first + blocks.count; ++block) {
    const int64_t block_offset = unk.interior(block) - unk.data();
    for (int64_t k = 0; k < side; ++k) {
      for (int64_t j = 0; j < side; ++j, packed_cell += side) {
        visit(block_offset + k * unk.stride_k() + j * unk.stride_j(), packed_cell);
      }
    }
  }
}

/// Prefetches a row that will be packed soon, because guard cells break the run that the hardware
/// would follow by itself.
inline void prefetch_row(const double* row, int64_t values) {
  for (int64_t value = 0; value < values; value += kCacheLineValues) {
    __builtin_prefetch(row + value, 0, 3);
  }
}

}  // namespace

bool kernel_available(PackKernel kernel) {
#ifdef STRIA_FLASH_X86_KERNELS
  if (kernel == PackKernel::kAvx512) {
    return __builtin_cpu_supports("avx512f") != 0;
  }
  if (kernel == PackKernel::kAvx2) {
    return __builtin_cpu_supports("avx2") != 0;
  }
#endif
  return kernel == PackKernel::kPortable;
}

PackKernel best_pack_kernel() {
  for (const PackKernel kernel : {PackKernel::kAvx512, PackKernel::kAvx2}) {
    if (kernel_available(kernel)) {
      return kernel;
    }
  }
  return PackKernel::kPortable;
}

void pack_one_pass(const Unk& unk, BlockSpan blocks, double* out, int64_t variable_stride, PackKernel kernel) {
  assert(variable_stride >= blocks.count * unk.parameters().cells_per_block());
  const Row row{unk.parameters().nxb, unk.parameters().nvar, variable_stride};
  const RowKernel pack_row = pack_row_kernel(kernel);
  for_each_row(unk, blocks, [&](int64_t offset, int64_t packed_cell) {
    prefetch_row(unk.data() + offset + unk.stride_j(), row.cells * row.variables);
    pack_row(unk.data() + offset, row, out + packed_cell);
  });
}

void unpack_one_pass(const double* in, int64_t variable_stride, BlockSpan blocks, Unk* unk, PackKernel kernel) {
  const Row row{unk->parameters().nxb, unk->parameters().nvar, variable_stride};
  const RowKernel unpack_row = unpack_row_kernel(kernel);
  for_each_row(*unk, blocks,
               [&](int64_t offset, int64_t packed_cell) { unpack_row(in + packed_cell, row, unk->data() + offset); });
}

void pack_one_pass_to_float(const Unk& unk, const std::vector<int64_t>& variables, BlockSpan blocks, float* out,
                            int64_t variable_stride) {
  const int64_t side = unk.parameters().nxb;
  if (variables.empty()) {
    return;
  }
  for_each_row(unk, blocks, [&](int64_t offset, int64_t packed_cell) {
    const double* cell = unk.data() + offset;
    for (int64_t i = 0; i < side; ++i, cell += unk.stride_i()) {
      __builtin_prefetch(cell + unk.stride_j() + variables.front(), 0, 3);
      float* value = out + packed_cell + i;
      for (const int64_t variable : variables) {
        *value = static_cast<float>(cell[variable]);
        value += variable_stride;
      }
    }
  });
}

}  // namespace stria::flash
