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

/// The number that this type is, bit by bit.
std::optional<Number> number_of(const Library& library, hid_t type) {
  for (size_t i = 0; i < kNumberTypes; ++i) {
    const auto element = static_cast<ElementType>(i + 1);
    for (const bool is_swapped : {false, true}) {
      const hid_t* const known = is_swapped ? library.swapped_types[i] : library.native_types[i];
      if (known != nullptr && library.H5Tequal(type, *known) > 0) {
        return Number{element, is_swapped};
      }
    }
  }
  return std::nullopt;
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
  if (!is_number(library, type)) {
    return found;
  }
  const hid_t stored_type = library.H5Dget_type(dataset);
  if (stored_type < 0) {
    return found;
  }
  if (library.H5Tequal(type, stored_type) > 0) {
    found.kind = Conversion::Kind::kNone;
  } else if (library.watches_conversions && !is_left_to_hdf5.load(std::memory_order_relaxed) &&
             is_number(library, stored_type)) {
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
    const float value =
        is_beyond ? std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(from[i])) : static_cast<float>(from[i]);
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
