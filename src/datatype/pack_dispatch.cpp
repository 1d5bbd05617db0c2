#include "datatype/pack_kernels.hpp"

namespace stria::pack {

bool is_supported(Isa isa) {
  return isa == Isa::kPortable;
}

Isa best_isa() {
  return Isa::kPortable;
}

const KernelTable& kernel_table(Isa) {
  return portable_kernels();
}

}  // namespace stria::pack
