#include "file/move/records_in_transit.hpp"

#include <fmt/format.h>

#include <utility>

#include "datatype/pack/pack.hpp"
#include "file/define/catalog.hpp"
#include "file/define/columns.hpp"

namespace stria::file {

namespace {

using container::ElementSpec;

/// Returns the records that the engine moves: libhdf5 gives numbers in the machine's byte order.
ElementSpec moved_form(const DatasetEntry& dataset, const ElementSpec& element) {
  ElementSpec moved = element;
  if (!dataset.is_readable() && moved.is_swapped()) {
    moved.big_endian = !moved.big_endian;
  }
  for (ElementSpec::Member& member : moved.members) {
    member.element = moved_form(dataset, member.element);
  }
  return moved;
}

Status check_size(const Memory& memory, int64_t count, int64_t record_bytes) {
  return memory.type.size() == count * record_bytes
             ? Status()
             : Status(ErrorCode::kInvalidArgument, fmt::format("the hyperslab has {} records of {} bytes, but the memory "
                                                               "region has {} bytes",
                                                               count, record_bytes, memory.type.size()));
}

Status check_address(const Memory& memory) {
  return memory.data != nullptr || memory.type.size() == 0 ? Status()
                                                           : Status(ErrorCode::kInvalidArgument, "the memory address is null");
}

Result<RecordConversion> conversion_of(const ElementSpec& file, const Memory& memory, bool put) {
  if (memory.columns == nullptr) {
    return RecordConversion::turning(file);
  }
  STRIA_ASSIGN_OR_RETURN(const ElementSpec packed, record_of(*memory.columns, 0, {.is_packed = true}));
  return put ? RecordConversion::to_file(packed, file) : RecordConversion::from_file(file, packed);
}

Result<Packer> packer_of(const Memory& memory) {
  return Packer::create({{.memory = static_cast<std::byte*>(memory.data), .type = memory.type}});
}

}  // namespace

Result<std::shared_ptr<RecordsInTransit>> RecordsInTransit::of_put(const DatasetEntry& dataset, int64_t count, Memory& memory) {
  const ElementSpec file = moved_form(dataset, dataset.spec.element);
  STRIA_ASSIGN_OR_RETURN(RecordConversion conversion, conversion_of(file, memory, true));
  STRIA_RETURN_IF_ERROR(check_size(memory, count, conversion.from_bytes()));
  STRIA_RETURN_IF_ERROR(check_address(memory));
  if (conversion.is_identity()) {
    return std::shared_ptr<RecordsInTransit>();
  }
  std::shared_ptr<RecordsInTransit> made(new RecordsInTransit(std::move(conversion), memory));
  STRIA_ASSIGN_OR_RETURN(const Packer packer, packer_of(memory));
  std::vector<std::byte> packed(static_cast<size_t>(memory.type.size()));
  const PackPart all{.operand = 0, .begin = 0, .end = memory.type.size(), .packed = packed.data()};
  packer.pack(std::span(&all, 1));
  made->records_.resize(static_cast<size_t>(count * made->conversion_.to_bytes()));
  STRIA_RETURN_IF_ERROR(made->conversion_.convert(packed, made->records_));
  memory = Memory(made->records_.data(), Datatype::bytes(static_cast<int64_t>(made->records_.size())), ElementType::kByte);
  return made;
}

Result<std::shared_ptr<RecordsInTransit>> RecordsInTransit::of_get(const DatasetEntry& dataset, int64_t count, Memory& memory) {
  const ElementSpec file = moved_form(dataset, dataset.spec.element);
  STRIA_ASSIGN_OR_RETURN(RecordConversion conversion, conversion_of(file, memory, false));
  STRIA_RETURN_IF_ERROR(check_size(memory, count, conversion.to_bytes()));
  STRIA_RETURN_IF_ERROR(check_address(memory));
  if (conversion.is_identity()) {
    return std::shared_ptr<RecordsInTransit>();
  }
  std::shared_ptr<RecordsInTransit> made(new RecordsInTransit(std::move(conversion), memory));
  made->records_.resize(static_cast<size_t>(count * made->conversion_.from_bytes()));
  memory = Memory(made->records_.data(), Datatype::bytes(static_cast<int64_t>(made->records_.size())), ElementType::kByte);
  return made;
}

Status RecordsInTransit::deliver() {
  std::vector<std::byte> packed(static_cast<size_t>(memory_.type.size()));
  STRIA_RETURN_IF_ERROR(conversion_.convert(records_, packed));
  STRIA_ASSIGN_OR_RETURN(const Packer packer, packer_of(memory_));
  const PackPart all{.operand = 0, .begin = 0, .end = memory_.type.size(), .packed = packed.data()};
  packer.unpack(std::span(&all, 1));
  records_ = {};
  return Status();
}

}  // namespace stria::file
