#include "container/container.hpp"

#include <utility>

namespace stria::container {

ElementSpec ElementSpec::of_number(ElementType type) {
  ElementSpec spec;
  spec.kind = Kind::kNumber;
  spec.number = type;
  spec.bytes = element_bytes(type);
  return spec;
}

ElementSpec ElementSpec::of_filled_string(int64_t bytes) {
  ElementSpec spec = of_string(bytes, false);
  spec.c_declared = true;
  return spec;
}

ElementSpec ElementSpec::of_string(int64_t bytes, bool space_padded) {
  ElementSpec spec;
  spec.kind = Kind::kString;
  spec.bytes = bytes;
  spec.space_padded = space_padded;
  return spec;
}

ElementSpec ElementSpec::of_compound(int64_t bytes, std::vector<Member> members) {
  ElementSpec spec;
  spec.kind = Kind::kCompound;
  spec.bytes = bytes;
  spec.members = std::move(members);
  return spec;
}

}  // namespace stria::container
