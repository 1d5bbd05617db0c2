#include "datatype/pack/pack_kernels.hpp"

namespace stria::pack {

bool is_supported(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::kPortable:
      return true;
    case Isa::kAvx2:
      return __builtin_cpu_supports("avx2") != 0;
    case Isa::kAvx512:
      return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
             __builtin_cpu_supports("avx2") != 0;
  }
  return false;
#else
  return isa == Isa::kPortable;
#endif
}

Isa best_isa() {
  static const Isa best = is_supported(Isa::kAvx512) ? Isa::kAvx512 : is_supported(Isa::kAvx2) ? Isa::kAvx2 : Isa::kPortable;
  return best;
}

const KernelTable& kernel_table([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kAvx512) {
    return avx512_kernels();
  }
  if (isa == Isa::kAvx2) {
    return avx2_kernels();
  }
#endif
  return portable_kernels();
}

}  // namespace stria::pack
