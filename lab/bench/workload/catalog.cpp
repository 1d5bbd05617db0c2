#include "workload/catalog.hpp"

namespace stria::bench {

Chosen WorkloadKind::standards() const {
  Chosen chosen;
  for (const Parameter& parameter : parameters) {
    chosen.numbers[parameter.name] = parameter.standard;
  }
  for (const Choice& choice : choices) {
    chosen.words[choice.name] = choice.words.front();
  }
  return chosen;
}

const std::vector<WorkloadKind>& workload_kinds() {
  static const std::vector<WorkloadKind> kinds = {
      block3d_kind(), block_block_kind(), btio_kind(),  convection_kind(), cyclic_kind(),
      display_kind(), flash_kind(),       ior_kind(),   noncontig_kind(),  open_kind(),
      pieces_kind(),  s3d_kind(),         sedov_kind(), tile_kind(),       turns_kind(),
  };
  return kinds;
}

}  // namespace stria::bench
