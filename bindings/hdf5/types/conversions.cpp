#include "hdf5/types/conversions.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace stria::hdf5 {

namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr uint32_t kMagnitude32 = 0x7fffffff;
constexpr uint64_t kMagnitude64 = 0x7fffffffffffffff;

std::atomic<bool> is_left_to_hdf5{false};

struct Number {
  ElementType element = ElementType::kByte;
  bool is_swapped = false;
};

/// Returns true for an IEEE number that fills its bytes.
bool is_ieee(const Library& library, hid_t type, size_t bytes) {
  const bool is_double = bytes == sizeof(double);
  const size_t exponent_bits = is_double ? 11 : 8;
  const size_t mantissa_bits = is_double ? 52 : 23;
  size_t sign = 0;
  size_t exponent = 0;
  size_t exponent_size = 0;
  size_t mantissa = 0;
  size_t mantissa_size = 0;
  return (is_double || bytes == sizeof(float)) &&
         library.H5Tget_fields(type, &sign, &exponent, &exponent_size, &mantissa, &mantissa_size) >= 0 &&
         sign == 8 * bytes - 1 && exponent == mantissa_bits && exponent_size == exponent_bits && mantissa == 0 &&
         mantissa_size == mantissa_bits && library.H5Tget_ebias(type) == (size_t{1} << (exponent_bits - 1)) - 1 &&
         library.H5Tget_norm(type) == kImpliedBit;
}

std::optional<ElementType> integer_of(size_t bytes, bool is_unsigned) {
  switch (bytes) {
    case 1:
      return is_unsigned ? ElementType::kUint8 : ElementType::kInt8;
    case 2:
      return is_unsigned ? ElementType::kUint16 : ElementType::kInt16;
    case 4:
      return is_unsigned ? ElementType::kUint32 : ElementType::kInt32;
    case 8:
      return is_unsigned ? ElementType::kUint64 : ElementType::kInt64;
    default:
      return std::nullopt;
  }
}

/// Returns the number that this type is, bit by bit. The predefined types would tell as well, but a
/// program may have copies of the variables that name them.
std::optional<Number> number_of(const Library& library, hid_t type) {
  const size_t bytes = library.H5Tget_size(type);
  const int order = library.H5Tget_order(type);
  if (library.H5Tget_precision(type) != 8 * bytes || (order != kLittleEndian && order != kBigEndian)) {
    return std::nullopt;
  }
  const bool is_swapped = (order == kLittleEndian) != (std::endian::native == std::endian::little);
  if (library.H5Tget_class(type) == kIntegerClass) {
    const auto element = integer_of(bytes, library.H5Tget_sign(type) == kUnsigned);
    return element ? std::optional(Number{*element, is_swapped}) : std::nullopt;
  }
  if (!is_ieee(library, type, bytes)) {
    return std::nullopt;
  }
  return Number{bytes == sizeof(double) ? ElementType::kFloat64 : ElementType::kFloat32, is_swapped};
}

bool is_floating(ElementType element) {
  return element == ElementType::kFloat32 || element == ElementType::kFloat64;
}

/// True where every bit of the result is HDF5's. Beside another byte order it has other ways.
bool is_same_as_hdf5(const Number& from, const Number& to) {
  if (from.is_swapped || to.is_swapped) {
    return from.element == to.element;
  }
  return !is_floating(from.element) || is_floating(to.element);
}

bool is_number(const Library& library, hid_t type) {
  const int type_class = library.H5Tget_class(type);
  return type_class == kIntegerClass || type_class == kFloatClass;
}

}  // namespace

Conversion conversion_of(const Library& library, hid_t dataset, hid_t type, bool writes) {
  Conversion found;
  if (!library.knows_places || !is_number(library, type)) {
    return found;
  }
  const hid_t stored_type = library.H5Dget_type(dataset);
  if (stored_type < 0) {
    return found;
  }
  if (library.H5Tequal(type, stored_type) > 0) {
    found.kind = Conversion::Kind::kNone;
  } else if (library.is_preloaded && !is_left_to_hdf5.load(std::memory_order_relaxed) && is_number(library, stored_type)) {
    const auto memory = number_of(library, type);
    const auto stored = memory ? number_of(library, stored_type) : std::nullopt;
    if (stored && (writes ? is_same_as_hdf5(*memory, *stored) : is_same_as_hdf5(*stored, *memory))) {
      found = {Conversion::Kind::kConverted, memory->element, stored->element, memory->is_swapped != stored->is_swapped,
               stored_type};
      return found;
    }
  }
  library.H5Tclose(stored_type);
  return found;
}

void leave_conversions_to_hdf5() {
  is_left_to_hdf5.store(true, std::memory_order_relaxed);
}

void note_conversion(const Library& library, hid_t source, hid_t target) {
  const auto may_be_number = [&](hid_t type) {
    return !library.is_usable || library.H5Iget_type(type) != kDatatypeId || is_number(library, type);
  };
  if (may_be_number(source) && may_be_number(target)) {
    leave_conversions_to_hdf5();
  }
}

bool has_largest_float(const std::byte* floats, int64_t count) {
  constexpr auto kBits = std::bit_cast<uint32_t>(kLargest);
  uint32_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, floats + i * 4, sizeof bits);
    found |= static_cast<uint32_t>((bits & kMagnitude32) == kBits);
  }
  return found != 0;
}

void narrow_as_hdf5(const double* from, std::byte* floats, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const bool is_beyond = std::fabs(from[i]) > static_cast<double>(kLargest);
    const float value = is_beyond ? std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(from[i]))
                                  : static_cast<float>(from[i]);
    std::memcpy(floats + i * 4, &value, sizeof value);
  }
}

void mend_beyond_float(std::byte* doubles, int64_t count) {
  constexpr auto kLargestBits = std::bit_cast<uint64_t>(static_cast<double>(kLargest));
  constexpr auto kInfinityBits = std::bit_cast<uint64_t>(std::numeric_limits<double>::infinity());
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, doubles + i * 8, sizeof bits);
    if ((bits & kMagnitude64) > kLargestBits && (bits & kMagnitude64) < kInfinityBits) {
      bits = (bits & ~kMagnitude64) | kInfinityBits;
      std::memcpy(doubles + i * 8, &bits, sizeof bits);
    }
  }
}

}  // namespace stria::hdf5
