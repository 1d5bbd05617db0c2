#include "container/hdf5/read/element_types.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <span>

namespace stria::container::h5 {

namespace {

constexpr bool kMachineIsBig = std::endian::native == std::endian::big;

struct FreeByLibrary {
  void operator()(char* text) const { H5free_memory(text); }
};
using LibraryText = std::unique_ptr<char, FreeByLibrary>;

Status failed(const char* what) {
  return last_error(ErrorCode::kInternal, what);
}

ElementSpec other(int64_t bytes) {
  ElementSpec spec;
  spec.kind = ElementSpec::Kind::kOther;
  spec.bytes = bytes;
  return spec;
}

// True when every bit of the number counts, as the engine's conversions and plain C++ types assume.
bool is_plain(hid_t type, size_t bytes) {
  return H5Tget_precision(type) == 8 * bytes && H5Tget_offset(type) == 0;
}

ElementSpec describe_integer(hid_t type, size_t bytes) {
  const bool has_sign = H5Tget_sign(type) == H5T_SGN_2;
  const H5T_order_t order = H5Tget_order(type);
  if (!is_plain(type, bytes) || (order != H5T_ORDER_LE && order != H5T_ORDER_BE)) {
    return other(static_cast<int64_t>(bytes));
  }
  ElementSpec spec;
  switch (bytes) {
    case 1:
      spec = ElementSpec::of_number(has_sign ? ElementType::kInt8 : ElementType::kUint8);
      break;
    case 2:
      spec = ElementSpec::of_number(has_sign ? ElementType::kInt16 : ElementType::kUint16);
      break;
    case 4:
      spec = ElementSpec::of_number(has_sign ? ElementType::kInt32 : ElementType::kUint32);
      break;
    case 8:
      spec = ElementSpec::of_number(has_sign ? ElementType::kInt64 : ElementType::kUint64);
      break;
    default:
      return other(static_cast<int64_t>(bytes));
  }
  spec.big_endian = order == H5T_ORDER_BE && bytes > 1;
  return spec;
}

ElementSpec describe_float(hid_t type, size_t bytes) {
  const H5T_order_t order = H5Tget_order(type);
  const bool big = order == H5T_ORDER_BE;
  const bool is_float = H5Tequal(type, big ? H5T_IEEE_F32BE : H5T_IEEE_F32LE) > 0;
  const bool is_double = H5Tequal(type, big ? H5T_IEEE_F64BE : H5T_IEEE_F64LE) > 0;
  if (!is_float && !is_double) {
    return other(static_cast<int64_t>(bytes));
  }
  ElementSpec spec = ElementSpec::of_number(is_float ? ElementType::kFloat32 : ElementType::kFloat64);
  spec.big_endian = big;
  return spec;
}

/// IEEE half precision, of which the engine moves the bits.
bool is_half(hid_t type, size_t bytes) {
  size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  const H5T_order_t order = H5Tget_order(type);
  return bytes == 2 && is_plain(type, bytes) && (order == H5T_ORDER_LE || order == H5T_ORDER_BE) &&
         H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 && sign == 15 &&
         exponent == 10 && exponent_bits == 5 && mantissa == 0 && mantissa_bits == 10 && H5Tget_ebias(type) == 15 &&
         H5Tget_norm(type) == H5T_NORM_IMPLIED;
}

ElementSpec describe_half(hid_t type) {
  ElementSpec spec = ElementSpec::of_number(ElementType::kUint16);
  spec.meaning = Meaning::kHalf;
  spec.big_endian = H5Tget_order(type) == H5T_ORDER_BE;
  return spec;
}

/// What h5py takes for booleans: FALSE, which is 0, and TRUE, which is 1, of one byte.
bool is_boolean(hid_t type, size_t bytes) {
  if (bytes != 1 || H5Tget_nmembers(type) != 2) {
    return false;
  }
  const auto names = [&](const char* name, uint8_t expected) {
    uint8_t value = 2;
    return H5Tenum_valueof(type, name, &value) >= 0 && value == expected;
  };
  return names("FALSE", 0) && names("TRUE", 1);
}

ElementSpec describe_boolean() {
  ElementSpec spec = ElementSpec::of_number(ElementType::kUint8);
  spec.meaning = Meaning::kBoolean;
  return spec;
}

Result<ElementSpec> describe(hid_t type, int depth);

/// An integer of an enumeration, as the file has it.
int64_t member_value(const ElementSpec& base, std::span<const std::byte> bytes) {
  uint64_t bits = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    bits = bits << 8 | static_cast<uint64_t>(bytes[base.big_endian ? bytes.size() - 1 - i : i]);
  }
  const auto unused = static_cast<int>(64 - 8 * bytes.size());
  const bool has_sign = base.number == ElementType::kInt8 || base.number == ElementType::kInt16 ||
                        base.number == ElementType::kInt32 || base.number == ElementType::kInt64;
  const auto value = static_cast<int64_t>(bits << unused);
  return has_sign ? value >> unused : static_cast<int64_t>(bits);
}

Result<ElementSpec> describe_enumeration(hid_t type, int depth) {
  const Id base(H5Tget_super(type));
  const int count = H5Tget_nmembers(type);
  if (!base.valid() || count < 0) {
    return last_error(ErrorCode::kCorrupted, "an enumeration can't be read");
  }
  STRIA_ASSIGN_OR_RETURN(ElementSpec element, describe(base.get(), depth + 1));
  for (unsigned index = 0; element.is_integer() && index < static_cast<unsigned>(count); ++index) {
    std::array<std::byte, 8> value{};
    const LibraryText name(H5Tget_member_name(type, index));
    if (name == nullptr || H5Tget_member_value(type, index, value.data()) < 0) {
      return last_error(ErrorCode::kCorrupted, "a member of an enumeration can't be read");
    }
    element.enumeration.push_back(
        {name.get(), member_value(element, std::span(value).first(static_cast<size_t>(element.bytes)))});
  }
  return element;
}

Result<ElementSpec> describe_compound(hid_t type, size_t bytes, int depth) {
  const int count = H5Tget_nmembers(type);
  if (count < 0) {
    return last_error(ErrorCode::kCorrupted, "a compound type can't be read");
  }
  std::vector<ElementSpec::Member> members;
  members.reserve(static_cast<size_t>(count));
  for (unsigned index = 0; index < static_cast<unsigned>(count); ++index) {
    const Id member(H5Tget_member_type(type, index));
    const LibraryText name(H5Tget_member_name(type, index));
    if (!member.valid() || name == nullptr) {
      return last_error(ErrorCode::kCorrupted, "a compound type's member can't be read");
    }
    STRIA_ASSIGN_OR_RETURN(ElementSpec element, describe(member.get(), depth + 1));
    members.push_back({name.get(), static_cast<int64_t>(H5Tget_member_offset(type, index)), std::move(element)});
  }
  return ElementSpec::of_compound(static_cast<int64_t>(bytes), std::move(members));
}

Result<ElementSpec> describe_string(hid_t type, size_t bytes) {
  if (H5Tis_variable_str(type) > 0) {
    return ElementSpec::of_string(0, false);
  }
  return ElementSpec::of_string(static_cast<int64_t>(bytes), H5Tget_strpad(type) == H5T_STR_SPACEPAD);
}

Result<ElementSpec> describe(hid_t type, int depth) {
  const size_t bytes = H5Tget_size(type);
  if (bytes == 0 || bytes > static_cast<size_t>(INT64_MAX)) {
    return last_error(ErrorCode::kCorrupted, "a type's size can't be read");
  }
  if (depth > ElementSpec::kMostNested) {
    return other(static_cast<int64_t>(bytes));
  }
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return describe_integer(type, bytes);
    case H5T_FLOAT:
      return is_half(type, bytes) ? describe_half(type) : describe_float(type, bytes);
    case H5T_STRING:
      return describe_string(type, bytes);
    case H5T_COMPOUND:
      return describe_compound(type, bytes, depth);
    case H5T_REFERENCE:
      return H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? ElementSpec::of_reference(static_cast<int64_t>(bytes))
                                                 : other(static_cast<int64_t>(bytes));
    case H5T_ENUM:
      return is_boolean(type, bytes) ? describe_boolean() : describe_enumeration(type, depth);
    case H5T_OPAQUE:
      return bytes == 1 ? ElementSpec::of_number(ElementType::kByte) : other(static_cast<int64_t>(bytes));
    default:
      return other(static_cast<int64_t>(bytes));
  }
}

Result<Id> copy_of(hid_t type) {
  Id copy(H5Tcopy(type));
  if (!copy.valid()) {
    return last_error(ErrorCode::kCorrupted, "a type can't be read");
  }
  return copy;
}

Result<Id> native(hid_t type, int depth);

Result<Id> native_number(hid_t type) {
  STRIA_ASSIGN_OR_RETURN(Id copy, copy_of(type));
  const H5T_order_t order = H5Tget_order(type);
  const H5T_order_t machine = kMachineIsBig ? H5T_ORDER_BE : H5T_ORDER_LE;
  if ((order == H5T_ORDER_LE || order == H5T_ORDER_BE) && H5Tset_order(copy.get(), machine) < 0) {
    return failed("cannot make a number type");
  }
  return copy;
}

Result<Id> native_compound(hid_t type, int depth) {
  Id compound(H5Tcreate(H5T_COMPOUND, H5Tget_size(type)));
  const int count = H5Tget_nmembers(type);
  if (!compound.valid() || count < 0) {
    return last_error(ErrorCode::kCorrupted, "a compound type can't be read");
  }
  for (unsigned index = 0; index < static_cast<unsigned>(count); ++index) {
    const Id member(H5Tget_member_type(type, index));
    const LibraryText name(H5Tget_member_name(type, index));
    if (!member.valid() || name == nullptr) {
      return last_error(ErrorCode::kCorrupted, "a compound type's member can't be read");
    }
    STRIA_ASSIGN_OR_RETURN(const Id inner, native(member.get(), depth + 1));
    if (H5Tinsert(compound.get(), name.get(), H5Tget_member_offset(type, index), inner.get()) < 0) {
      return last_error(ErrorCode::kCorrupted, "a compound type's members overlap");
    }
  }
  return compound;
}

Result<Id> native_array(hid_t type, int depth) {
  hsize_t dims[H5S_MAX_RANK] = {};
  const int rank = H5Tget_array_dims2(type, dims);
  const Id base(H5Tget_super(type));
  if (rank < 1 || rank > H5S_MAX_RANK || !base.valid()) {
    return last_error(ErrorCode::kCorrupted, "an array type can't be read");
  }
  STRIA_ASSIGN_OR_RETURN(const Id inner, native(base.get(), depth + 1));
  Id array(H5Tarray_create2(inner.get(), static_cast<unsigned>(rank), dims));
  if (!array.valid()) {
    return last_error(ErrorCode::kCorrupted, "an array type can't be read");
  }
  return array;
}

Result<Id> native(hid_t type, int depth) {
  if (depth > ElementSpec::kMostNested) {
    return copy_of(type);
  }
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
    case H5T_BITFIELD:
      return native_number(type);
    case H5T_COMPOUND:
      return native_compound(type, depth);
    case H5T_ARRAY:
      return native_array(type, depth);
    case H5T_ENUM: {
      const Id base(H5Tget_super(type));
      if (!base.valid()) {
        return last_error(ErrorCode::kCorrupted, "an enumeration can't be read");
      }
      return native(base.get(), depth + 1);
    }
    default:
      return copy_of(type);
  }
}

bool has_pointers(hid_t type, int depth) {
  switch (H5Tget_class(type)) {
    case H5T_VLEN:
    case H5T_REFERENCE:
    case H5T_NO_CLASS:
      return true;
    case H5T_STRING:
      return H5Tis_variable_str(type) != 0;
    case H5T_ARRAY: {
      const Id base(H5Tget_super(type));
      return depth > ElementSpec::kMostNested || has_pointers(base.get(), depth + 1);
    }
    case H5T_COMPOUND: {
      bool found = depth > ElementSpec::kMostNested;
      const int count = H5Tget_nmembers(type);
      for (int index = 0; index < count && !found; ++index) {
        const Id member(H5Tget_member_type(type, static_cast<unsigned>(index)));
        found = has_pointers(member.get(), depth + 1);
      }
      return found;
    }
    default:
      return false;
  }
}

}  // namespace

bool holds_pointers(hid_t file_type) {
  return has_pointers(file_type, 0);
}

Result<ElementSpec> describe_type(hid_t file_type) {
  return describe(file_type, 0);
}
Result<Id> memory_type_of(hid_t file_type) {
  return native(file_type, 0);
}

}  // namespace stria::container::h5
