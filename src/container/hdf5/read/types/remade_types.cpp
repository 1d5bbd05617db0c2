#include "container/hdf5/read/types/remade_types.hpp"

#include <bit>
#include <cstring>
#include <vector>

#include "container/hdf5/read/types/number_types.hpp"

namespace stria::container::h5 {

namespace {

Result<Id> type_as_read(hid_t type, const ElementSpec& element);

Result<Id> compound_as_read(hid_t type, const ElementSpec& element) {
  Id compound(H5Tcreate(H5T_COMPOUND, bytes_in_memory(element)));
  size_t place = 0;
  for (unsigned index = 0; index < element.members.size(); ++index) {
    const ElementSpec::Member& member = element.members[index];
    const Id stored(H5Tget_member_type(type, index));
    if (bytes_in_memory(member.element) == 0) {
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(const Id inner, type_as_read(stored.get(), member.element));
    if (H5Tinsert(compound.get(), member.name.c_str(), place, inner.get()) < 0) {
      return last_error(ErrorCode::kCorrupted, "a compound type can't be read");
    }
    place += bytes_in_memory(member.element);
  }
  return compound;
}

Result<Id> array_as_read(hid_t type, const ElementSpec& element) {
  Id base(H5Tget_super(type));
  while (base.valid() && H5Tget_class(base.get()) == H5T_ARRAY) {
    base = Id(H5Tget_super(base.get()));
  }
  STRIA_ASSIGN_OR_RETURN(const Id inner, type_as_read(base.get(), element.members[0].element));
  const std::vector<hsize_t> dims(element.array_dims.begin(), element.array_dims.end());
  Id array(H5Tarray_create2(inner.get(), static_cast<unsigned>(dims.size()), dims.data()));
  return array.valid() ? std::move(array) : Result<Id>(last_error(ErrorCode::kCorrupted, "an array type can't be read"));
}

Result<Id> type_as_read(hid_t type, const ElementSpec& element) {
  switch (element.kind) {
    case ElementSpec::Kind::kCompound:
      return compound_as_read(type, element);
    case ElementSpec::Kind::kArray:
      return array_as_read(type, element);
    case ElementSpec::Kind::kNumber:
      return element.meaning == Meaning::kHalf      ? in_native_order(type)
             : element.number == ElementType::kByte ? copy_of(type)
                                                    : copy_of(native_type_of(element.number));
    default:
      return copy_of(type);
  }
}

void add_kept_bits(hid_t type, const ElementSpec& element, int64_t offset_bytes, std::vector<KeptBits>& kept) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      if (is_reduced_integer(type, H5Tget_size(type))) {
        kept.push_back({.offset_bytes = offset_bytes,
                        .width_bytes = element.bytes,
                        .bits = static_cast<int>(H5Tget_precision(type)),
                        .has_sign = H5Tget_sign(type) == H5T_SGN_2});
      }
      break;
    case H5T_ENUM: {
      const Id base(H5Tget_super(type));
      add_kept_bits(base.get(), element, offset_bytes, kept);
      break;
    }
    case H5T_ARRAY: {
      if (element.kind != ElementSpec::Kind::kArray) {
        break;
      }
      const Id base(H5Tget_super(type));
      const bool is_inner = H5Tget_class(base.get()) == H5T_ARRAY;
      const ElementSpec& one = is_inner ? element : element.members[0].element;
      const size_t before = kept.size();
      add_kept_bits(base.get(), one, offset_bytes, kept);
      const std::vector<KeptBits> first(kept.begin() + static_cast<std::ptrdiff_t>(before), kept.end());
      for (int64_t i = 1; !is_inner && i < element.array_size(); ++i) {
        for (KeptBits each : first) {
          each.offset_bytes += i * one.bytes;
          kept.push_back(each);
        }
      }
      break;
    }
    case H5T_COMPOUND:
      for (unsigned index = 0; index < element.members.size(); ++index) {
        const Id member(H5Tget_member_type(type, index));
        add_kept_bits(member.get(), element.members[index].element, offset_bytes + element.members[index].offset_bytes, kept);
      }
      break;
    default:
      break;
  }
}

uint64_t extended(uint64_t value, const KeptBits& kept) {
  const int unused = 64 - kept.bits;
  return kept.has_sign ? static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused) : value << unused >> unused;
}

template <typename Number>
void extend(const KeptBits& kept, std::byte* at) {
  Number value;
  std::memcpy(&value, at, sizeof value);
  value = static_cast<Number>(extended(value, kept));
  std::memcpy(at, &value, sizeof value);
}

void extend_one(const KeptBits& kept, std::byte* at) {
  switch (kept.width_bytes) {
    case 1:
      return extend<uint8_t>(kept, at);
    case 2:
      return extend<uint16_t>(kept, at);
    case 4:
      return extend<uint32_t>(kept, at);
    default:
      return extend<uint64_t>(kept, at);
  }
}

}  // namespace

std::vector<KeptBits> kept_bits(hid_t file_type, const ElementSpec& element) {
  std::vector<KeptBits> kept;
  add_kept_bits(file_type, element, 0, kept);
  return kept;
}

void extend_bits(std::span<const KeptBits> kept, int64_t element_bytes, std::span<std::byte> elements) {
  const auto size = static_cast<int64_t>(elements.size());
  for (int64_t at = 0; !kept.empty() && element_bytes > 0 && at + element_bytes <= size; at += element_bytes) {
    for (const KeptBits& each : kept) {
      extend_one(each, elements.data() + at + each.offset_bytes);
    }
  }
}

bool is_read(const ElementSpec& element) {
  return element.kind != ElementSpec::Kind::kOther && element.kind != ElementSpec::Kind::kReference;
}

void lay_out(ElementSpec& element) {
  if (element.kind == ElementSpec::Kind::kCompound) {
    element.bytes = 0;
    for (ElementSpec::Member& member : element.members) {
      lay_out(member.element);
      member.offset_bytes = element.bytes;
      element.bytes += member.element.bytes;
    }
  } else if (element.kind == ElementSpec::Kind::kArray) {
    lay_out(element.members[0].element);
    element.bytes = element.array_size() * element.members[0].element.bytes;
  } else if (!is_read(element)) {
    element.bytes = 0;
  }
  element.big_endian = std::endian::native == std::endian::big;
}

size_t bytes_in_memory(const ElementSpec& element) {
  if (element.kind == ElementSpec::Kind::kCompound || element.kind == ElementSpec::Kind::kArray) {
    size_t bytes = 0;
    for (const ElementSpec::Member& member : element.members) {
      bytes += bytes_in_memory(member.element);
    }
    return bytes * static_cast<size_t>(element.array_size());
  }
  return element.varies ? sizeof(char*) : is_read(element) ? static_cast<size_t>(element.bytes) : 0;
}

Result<Id> remade_type(hid_t file_type, const ElementSpec& element) {
  return type_as_read(file_type, element);
}

}  // namespace stria::container::h5
