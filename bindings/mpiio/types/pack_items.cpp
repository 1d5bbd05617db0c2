#include "mpiio/types/pack_items.hpp"

#include "datatype/pack/pack.hpp"

namespace stria::mpiio {

namespace {

Result<Packer> packer_of(const Datatype& type, void* memory) {
  PackOperand operand;
  operand.memory = static_cast<std::byte*>(memory);
  operand.type = type;
  return Packer::create({operand});
}

PackPart part_of(std::byte* packed, size_t bytes) {
  return {0, 0, static_cast<int64_t>(bytes), packed};
}

}  // namespace

Status pack_items(const Datatype& type, const void* memory, std::span<std::byte> packed) {
  STRIA_ASSIGN_OR_RETURN(const Packer packer, packer_of(type, const_cast<void*>(memory)));
  const PackPart part = part_of(packed.data(), packed.size());
  packer.pack({&part, 1});
  return {};
}

Status unpack_items(const Datatype& type, void* memory, std::span<const std::byte> packed) {
  STRIA_ASSIGN_OR_RETURN(const Packer packer, packer_of(type, memory));
  const PackPart part = part_of(const_cast<std::byte*>(packed.data()), packed.size());
  packer.unpack({&part, 1});
  return {};
}

}  // namespace stria::mpiio
