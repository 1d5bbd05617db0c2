#include "container/hdf5/read/types/element_types.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "container/hdf5/read/types/number_types.hpp"
#include "container/hdf5/read/types/remade_types.hpp"
#include "datatype/convert/convert.hpp"

namespace stria::container::h5 {

namespace {

struct FreeByLibrary {
  void operator()(char* text) const { H5free_memory(text); }
};
using LibraryText = std::unique_ptr<char, FreeByLibrary>;

/// Recognises what h5py takes for booleans: FALSE, which is 0, and TRUE, which is 1, of one byte.
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

/// Returns an integer of an enumeration, of which the bytes are given in the machine's byte order.
int64_t member_value(const ElementSpec& base, const std::array<std::byte, kNumberBytesMax>& bytes) {
  int64_t value = 0;
  convert_elements(base.number, bytes.data(), ElementType::kInt64, reinterpret_cast<std::byte*>(&value), 1);
  if (base.number == ElementType::kUint64) {
    std::memcpy(&value, bytes.data(), sizeof value);  // its bits
  }
  return value;
}

Result<ElementSpec> describe_enumeration(hid_t type, int depth) {
  const Id base(H5Tget_super(type));
  const int count = H5Tget_nmembers(type);
  if (!base.valid() || count < 0) {
    return last_error(ErrorCode::kCorrupted, "an enumeration can't be read");
  }
  STRIA_ASSIGN_OR_RETURN(ElementSpec element, describe(base.get(), depth + 1));
  for (unsigned index = 0; element.is_integer() && index < static_cast<unsigned>(count); ++index) {
    std::array<std::byte, kNumberBytesMax> value{};
    const LibraryText name(H5Tget_member_name(type, index));
    if (name == nullptr || H5Tget_member_value(type, index, value.data()) < 0 ||
        H5Tconvert(base.get(), native_type_of(element.number), 1, value.data(), nullptr, H5P_DEFAULT) < 0) {
      return last_error(ErrorCode::kCorrupted, "a member of an enumeration can't be read");
    }
    extend_bits(kept_bits(base.get(), element), element.bytes, std::span(value).first(static_cast<size_t>(element.bytes)));
    element.enumeration.push_back({name.get(), member_value(element, value)});
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
    ElementSpec text = ElementSpec::of_string(0, false);
    text.varies = true;
    return text;
  }
  return ElementSpec::of_string(static_cast<int64_t>(bytes), H5Tget_strpad(type) == H5T_STR_SPACEPAD);
}

Result<ElementSpec> describe_array(hid_t type, size_t bytes, int depth) {
  hsize_t lengths[H5S_MAX_RANK] = {};
  const int rank = H5Tget_array_dims2(type, lengths);
  const Id base(H5Tget_super(type));
  if (rank < 1 || rank > H5S_MAX_RANK || !base.valid()) {
    return last_error(ErrorCode::kCorrupted, "an array type can't be read");
  }
  STRIA_ASSIGN_OR_RETURN(ElementSpec element, describe(base.get(), depth + 1));
  std::vector<int64_t> dims(lengths, lengths + rank);
  if (element.kind == ElementSpec::Kind::kOther) {
    return other_type(static_cast<int64_t>(bytes));
  }
  if (element.kind == ElementSpec::Kind::kArray) {
    dims.insert(dims.end(), element.array_dims.begin(), element.array_dims.end());
    element = ElementSpec(element.members[0].element);
  }
  return ElementSpec::of_array(std::move(element), std::move(dims));
}

Result<ElementSpec> describe(hid_t type, int depth) {
  const size_t bytes = H5Tget_size(type);
  if (bytes == 0 || bytes > static_cast<size_t>(INT64_MAX)) {
    return last_error(ErrorCode::kCorrupted, "a type's size can't be read");
  }
  if (depth > ElementSpec::kMostNested) {
    return other_type(static_cast<int64_t>(bytes));
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
    case H5T_ARRAY:
      return depth > 0 ? describe_array(type, bytes, depth) : other_type(static_cast<int64_t>(bytes));
    case H5T_REFERENCE:
      return H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? ElementSpec::of_reference(static_cast<int64_t>(bytes))
                                                 : other_type(static_cast<int64_t>(bytes));
    case H5T_ENUM:
      return is_boolean(type, bytes) ? describe_boolean() : describe_enumeration(type, depth);
    case H5T_OPAQUE:
      return bytes == 1 ? ElementSpec::of_number(ElementType::kByte) : other_type(static_cast<int64_t>(bytes));
    default:
      return other_type(static_cast<int64_t>(bytes));
  }
}

Result<Id> native(hid_t type, int depth);

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
      return in_native_order(type);
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

/// Tells whether what memory gets of an element isn't what the file has, but for the byte order.
bool is_remade(hid_t type, int depth) {
  const size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return is_reduced_integer(type, bytes);
    case H5T_FLOAT:
      return !is_half(type, bytes) && is_reduced_float(type, bytes);
    case H5T_ENUM:
    case H5T_ARRAY: {
      const Id base(H5Tget_super(type));
      return depth <= ElementSpec::kMostNested && is_remade(base.get(), depth + 1);
    }
    case H5T_COMPOUND: {
      bool found = false;
      const int count = H5Tget_nmembers(type);
      for (int index = 0; index < count && !found; ++index) {
        const Id member(H5Tget_member_type(type, static_cast<unsigned>(index)));
        found = depth <= ElementSpec::kMostNested && is_remade(member.get(), depth + 1);
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

bool takes_library(hid_t file_type) {
  const bool has_places = H5Tget_class(file_type) == H5T_COMPOUND && has_pointers(file_type, 0);
  return has_places || is_remade(file_type, 0);
}

std::string what_takes_library(hid_t file_type) {
  const int count = H5Tget_class(file_type) == H5T_COMPOUND ? H5Tget_nmembers(file_type) : 0;
  for (unsigned index = 0; index < static_cast<unsigned>(std::max(count, 0)); ++index) {
    const Id member(H5Tget_member_type(file_type, index));
    const LibraryText name(H5Tget_member_name(file_type, index));
    if (name != nullptr && (has_pointers(member.get(), 1) || is_remade(member.get(), 1))) {
      return "its column '" + std::string(name.get()) + "' is of a type that only libhdf5 reads";
    }
  }
  return "its elements are of a type that only libhdf5 reads";
}

Result<ElementSpec> describe_type(hid_t file_type) {
  STRIA_ASSIGN_OR_RETURN(ElementSpec element, describe(file_type, 0));
  if (takes_library(file_type)) {
    lay_out(element);
  }
  return element;
}

Result<Id> memory_type_of(hid_t file_type) {
  return native(file_type, 0);
}

}  // namespace stria::container::h5
