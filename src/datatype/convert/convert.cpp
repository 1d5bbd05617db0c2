#include "datatype/convert/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/check.hpp"

namespace stria {
namespace {

/// The numeric types in the order of ElementType, after kByte.
using Numbers = std::tuple<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, float, double>;
constexpr size_t kNumberCount = std::tuple_size_v<Numbers>;

size_t number_index(ElementType type) {
  return static_cast<size_t>(type) - 1;
}

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename To, typename From>
To convert_one(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // 2^digits is exact in floating point, whereas the largest integer may not be.
    constexpr From kBeyond = static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * From{2};
    constexpr From kLowest = static_cast<From>(std::numeric_limits<To>::min());
    if (std::isnan(value)) {
      return 0;
    }
    if (value >= kBeyond) {
      return std::numeric_limits<To>::max();
    }
    return value <= kLowest ? std::numeric_limits<To>::min() : static_cast<To>(value);
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) {
      return std::numeric_limits<To>::max();
    }
    return std::cmp_less(value, std::numeric_limits<To>::min()) ? std::numeric_limits<To>::min() : static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

using ConvertFunction = void (*)(const std::byte*, std::byte*, int64_t);

template <typename From, typename To>
void convert_array(const std::byte* source, std::byte* target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const To value = convert_one<To>(load<From>(source + i * static_cast<int64_t>(sizeof(From))));
    std::memcpy(target + i * static_cast<int64_t>(sizeof(To)), &value, sizeof value);
  }
}

template <typename From, size_t... To>
constexpr std::array<ConvertFunction, kNumberCount> conversions_from(std::index_sequence<To...>) {
  return {&convert_array<From, std::tuple_element_t<To, Numbers>>...};
}

template <size_t... From>
constexpr auto all_conversions(std::index_sequence<From...> indices) {
  return std::array<std::array<ConvertFunction, kNumberCount>, kNumberCount>{
      conversions_from<std::tuple_element_t<From, Numbers>>(indices)...};
}

constexpr auto kConversions = all_conversions(std::make_index_sequence<kNumberCount>());

template <typename Bits>
Bits reverse_bytes(Bits value) {
  if constexpr (sizeof(Bits) == 2) {
    return __builtin_bswap16(value);
  } else if constexpr (sizeof(Bits) == 4) {
    return __builtin_bswap32(value);
  } else {
    return __builtin_bswap64(value);
  }
}

template <typename Bits>
void swap_array(const std::byte* source, std::byte* target, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i * static_cast<int64_t>(sizeof(Bits));
    const Bits value = reverse_bytes(load<Bits>(source + at));
    std::memcpy(target + at, &value, sizeof value);
  }
}

using RangeFunction = void (*)(const std::byte*, int64_t, ValueRange&);

// Several lanes side by side, because one minimum would have to wait for the one before it.
template <typename T>
void widen_by_array(const std::byte* source, int64_t count, ValueRange& range) {
  constexpr int64_t kLanes = 64 / sizeof(T);
  using Limits = std::numeric_limits<T>;
  T minimum[kLanes];
  T maximum[kLanes];
  std::fill_n(minimum, kLanes, Limits::has_infinity ? Limits::infinity() : Limits::max());
  std::fill_n(maximum, kLanes, Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
  const auto widen = [&](int64_t lane, int64_t index) {
    const T value = load<T>(source + index * static_cast<int64_t>(sizeof(T)));
    minimum[lane] = value < minimum[lane] ? value : minimum[lane];  // false for NaN
    maximum[lane] = value > maximum[lane] ? value : maximum[lane];
  };
  const int64_t whole = count / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      widen(lane, i + lane);
    }
  }
  for (int64_t i = whole; i < count; ++i) {
    widen(0, i);
  }
  if (count > 0) {
    range.minimum = std::min(range.minimum, static_cast<double>(*std::min_element(minimum, minimum + kLanes)));
    range.maximum = std::max(range.maximum, static_cast<double>(*std::max_element(maximum, maximum + kLanes)));
  }
}

template <size_t... Index>
constexpr std::array<RangeFunction, kNumberCount> all_ranges(std::index_sequence<Index...>) {
  return {&widen_by_array<std::tuple_element_t<Index, Numbers>>...};
}

constexpr auto kRanges = all_ranges(std::make_index_sequence<kNumberCount>());

}  // namespace

bool can_convert(ElementType from, ElementType to) {
  return from == to || (from != ElementType::kByte && to != ElementType::kByte);
}

void convert_elements(ElementType from, const std::byte* source, ElementType to, std::byte* target, int64_t count) {
  STRIA_ASSERT(can_convert(from, to), from, to);
  if (from == to) {
    std::copy_n(source, count * element_bytes(from), target);
  } else {
    kConversions[number_index(from)][number_index(to)](source, target, count);
  }
}

void swap_elements(int64_t width_bytes, const std::byte* source, std::byte* target, int64_t count) {
  STRIA_ASSERT(width_bytes == 1 || width_bytes == 2 || width_bytes == 4 || width_bytes == 8, width_bytes);
  switch (width_bytes) {
    case 2:
      return swap_array<uint16_t>(source, target, count);
    case 4:
      return swap_array<uint32_t>(source, target, count);
    case 8:
      return swap_array<uint64_t>(source, target, count);
    default:
      std::memmove(target, source, static_cast<size_t>(count * width_bytes));
  }
}

void widen_range(ElementType type, const std::byte* source, int64_t count, ValueRange& range) {
  if (type != ElementType::kByte) {
    kRanges[number_index(type)](source, count, range);
  }
}

}  // namespace stria
