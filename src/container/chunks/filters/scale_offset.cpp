#include "container/chunks/filters/scale_offset.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "container/corrupted.hpp"

namespace stria::container {

namespace {

// A chunk begins with its bits an element, the size of the smallest value, that value, and zeros.
constexpr size_t kBitsBytes = 4;
constexpr size_t kMinimumBytes = 8;
constexpr size_t kHeadBytes = 21;

template <typename T>
T swap_bytes(T value) {
  auto* const bytes = reinterpret_cast<std::byte*>(&value);
  std::reverse(bytes, bytes + sizeof value);
  return value;
}

/// The elements of a chunk, in the machine's order.
template <typename T>
class Elements {
 public:
  Elements(std::byte* bytes, bool swapped) : bytes_(bytes), swapped_(swapped) {}
  T get(size_t i) const {
    T value;
    std::memcpy(&value, bytes_ + i * sizeof value, sizeof value);
    return swapped_ ? swap_bytes(value) : value;
  }
  void set(size_t i, T value) {
    value = swapped_ ? swap_bytes(value) : value;
    std::memcpy(bytes_ + i * sizeof value, &value, sizeof value);
  }

 private:
  std::byte* bytes_;
  bool swapped_;
};

template <typename T>
T stored_fill_value(const DatasetSpec& spec) {
  T value = 0;
  if (spec.fill_value.size() == sizeof value) {
    std::memcpy(&value, spec.fill_value.data(), sizeof value);
  }
  return spec.element.is_swapped() ? swap_bytes(value) : value;
}

constexpr uint64_t all_ones(int bits) {
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

/// Writes codes one behind another, from the highest bit of each byte on.
class BitWriter {
 public:
  explicit BitWriter(std::byte* to) : to_(to) {}
  void put(uint64_t code, int bits) {
    if (bits > kMostAtOnce) {
      put(code >> kMostAtOnce, bits - kMostAtOnce);
      bits = kMostAtOnce;
    }
    held_ = held_ << bits | (code & all_ones(bits));
    for (held_bits_ += bits; held_bits_ >= 8; held_bits_ -= 8) {
      *to_++ = static_cast<std::byte>(held_ >> (held_bits_ - 8));
    }
  }
  void finish() {
    if (held_bits_ > 0) {
      *to_ = static_cast<std::byte>(held_ << (8 - held_bits_));
    }
  }

 private:
  static constexpr int kMostAtOnce = 56;  // besides the 7 bits that may be held
  std::byte* to_;
  uint64_t held_ = 0;
  int held_bits_ = 0;
};

class BitReader {
 public:
  explicit BitReader(const std::byte* from) : from_(from) {}
  uint64_t get(int bits) {
    if (bits > kMostAtOnce) {
      const uint64_t high = get(bits - kMostAtOnce);
      return high << kMostAtOnce | get(kMostAtOnce);
    }
    for (; held_bits_ < bits; held_bits_ += 8) {
      held_ = held_ << 8 | static_cast<uint64_t>(*from_++);
    }
    held_bits_ -= bits;
    return held_ >> held_bits_ & all_ones(bits);
  }

 private:
  static constexpr int kMostAtOnce = 56;
  const std::byte* from_;
  uint64_t held_ = 0;
  int held_bits_ = 0;
};

template <typename T>
bool encode(const DatasetSpec& spec, std::span<const std::byte> chunk, std::vector<std::byte>& out) {
  using Unsigned = std::make_unsigned_t<T>;
  // Elements only reads here.
  const Elements<T> elements(const_cast<std::byte*>(chunk.data()), spec.element.is_swapped());
  const size_t count = chunk.size() / sizeof(T);
  const T fill = stored_fill_value<T>(spec);
  T least = std::numeric_limits<T>::max();
  T most = std::numeric_limits<T>::min();
  for (size_t i = 0; i < count; ++i) {
    const T value = elements.get(i);
    if (value != fill) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  if (least > most) {
    least = most = 0;  // nothing but the fill value
  }
  const auto difference_of = [least](T value) {
    return static_cast<Unsigned>(static_cast<Unsigned>(value) - static_cast<Unsigned>(least));
  };
  const uint64_t span = difference_of(most);
  if (span >= std::numeric_limits<Unsigned>::max() - 1) {
    return false;
  }
  const auto bits = static_cast<int>(std::bit_width(span + 1));
  const size_t bytes = kHeadBytes + count * static_cast<size_t>(bits) / 8 + 1;
  if (bytes >= chunk.size()) {
    return false;
  }
  const size_t begin = out.size();
  out.resize(begin + bytes);
  std::byte* const head = out.data() + begin;
  const auto minimum = static_cast<uint64_t>(static_cast<int64_t>(least));
  for (size_t i = 0; i < kBitsBytes; ++i) {
    head[i] = static_cast<std::byte>(bits >> (8 * i));
  }
  head[kBitsBytes] = std::byte{kMinimumBytes};
  for (size_t i = 0; i < kMinimumBytes; ++i) {
    head[kBitsBytes + 1 + i] = static_cast<std::byte>(minimum >> (8 * i));
  }
  BitWriter codes(head + kHeadBytes);
  for (size_t i = 0; i < count; ++i) {
    const T value = elements.get(i);
    codes.put(value == fill ? all_ones(bits) : difference_of(value), bits);
  }
  codes.finish();
  return true;
}

template <typename T>
void decode(const DatasetSpec& spec, std::span<const std::byte> codes, int bits, uint64_t minimum, std::span<std::byte> chunk) {
  using Unsigned = std::make_unsigned_t<T>;
  Elements<T> elements(chunk.data(), spec.element.is_swapped());
  const size_t count = chunk.size() / sizeof(T);
  // The numbers lie as they are, but in the order of the machine that wrote them.
  if (bits == 8 * static_cast<int>(sizeof(T))) {
    for (size_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, codes.data() + i * sizeof value, sizeof value);
      elements.set(i, value);
    }
    return;
  }
  const T fill = stored_fill_value<T>(spec);
  BitReader reader(codes.data());
  for (size_t i = 0; i < count; ++i) {
    const uint64_t code = bits == 0 ? 0 : reader.get(bits);
    elements.set(i, code == all_ones(bits) ? fill : static_cast<T>(static_cast<Unsigned>(code + minimum)));
  }
}

/// Calls `work` with a value of the elements' type.
template <typename Work>
auto with_type(ElementType type, Work&& work) {
  switch (type) {
    case ElementType::kInt8:
      return work(int8_t{});
    case ElementType::kInt16:
      return work(int16_t{});
    case ElementType::kUint16:
      return work(uint16_t{});
    case ElementType::kInt32:
      return work(int32_t{});
    case ElementType::kUint32:
      return work(uint32_t{});
    case ElementType::kInt64:
      return work(int64_t{});
    case ElementType::kUint64:
      return work(uint64_t{});
    default:
      return work(uint8_t{});
  }
}

bool is_signed(ElementType type) {
  return type == ElementType::kInt8 || type == ElementType::kInt16 || type == ElementType::kInt32 ||
         type == ElementType::kInt64;
}

}  // namespace

bool takes_scale_offset(const ElementSpec& element) {
  return element.is_integer() && element.enumeration.empty();  // libhdf5 does the same
}

std::vector<uint32_t> scale_offset_values(const DatasetSpec& spec) {
  constexpr size_t kValues = 20;
  constexpr uint32_t kOfIntegers = 2;
  constexpr uint32_t kBitsFromData = 0;
  constexpr uint32_t kClassInteger = 0;
  constexpr uint32_t kFillValueHasCode = 1;
  uint32_t count = 1;
  for (const int64_t size : spec.chunking->dims) {
    count *= static_cast<uint32_t>(size);
  }
  std::vector<uint32_t> values = {kOfIntegers,
                                  kBitsFromData,
                                  count,
                                  kClassInteger,
                                  static_cast<uint32_t>(spec.element.bytes),
                                  is_signed(spec.element.number) ? 1u : 0u,
                                  spec.element.big_endian ? 1u : 0u,
                                  kFillValueHasCode};
  // The fill value's bytes follow, the lowest first.
  for (size_t i = 0; i < spec.fill_value.size(); ++i) {
    const size_t at = spec.element.big_endian ? spec.fill_value.size() - 1 - i : i;
    values.resize(8 + i / 4 + 1);
    values.back() |= static_cast<uint32_t>(spec.fill_value[at]) << (8 * (i % 4));
  }
  values.resize(kValues);
  return values;
}

bool scale_offset(const DatasetSpec& spec, std::span<const std::byte> chunk, std::vector<std::byte>& out) {
  return with_type(spec.element.number, [&](auto value) { return encode<decltype(value)>(spec, chunk, out); });
}

Status undo_scale_offset(const DatasetSpec& spec, std::span<const std::byte> stored, std::span<std::byte> chunk) {
  if (stored.size() < kHeadBytes) {
    return corrupted("it is cut short");
  }
  uint64_t bits = 0;
  for (size_t i = 0; i < kBitsBytes; ++i) {
    bits |= static_cast<uint64_t>(stored[i]) << (8 * i);
  }
  const size_t minimum_bytes = std::min(static_cast<size_t>(stored[kBitsBytes]), kMinimumBytes);
  uint64_t minimum = 0;
  for (size_t i = 0; i < minimum_bytes; ++i) {
    minimum |= static_cast<uint64_t>(stored[kBitsBytes + 1 + i]) << (8 * i);
  }
  const std::span<const std::byte> codes = stored.subspan(kHeadBytes);
  const auto width = static_cast<size_t>(spec.element.bytes);
  const size_t count = chunk.size() / width;
  if (bits > 8 * width) {
    return corrupted("its elements have more bits than their type");
  }
  if (codes.size() < (count * bits + 7) / 8) {
    return corrupted("it is cut short");
  }
  with_type(spec.element.number, [&](auto value) {
    decode<decltype(value)>(spec, codes, static_cast<int>(bits), minimum, chunk);
    return 0;
  });
  return Status();
}

}  // namespace stria::container
