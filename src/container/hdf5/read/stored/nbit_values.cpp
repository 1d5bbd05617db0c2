#include "container/hdf5/read/stored/nbit_values.hpp"

namespace stria::container::h5 {

namespace {

constexpr int kDeepest = 16;

std::optional<NbitElement> number_of(Decoder& values, int64_t bytes) {
  const int64_t order = values.number(4);
  const int64_t precision = values.number(4);
  const int64_t offset = values.number(4);
  const bool fits = values.well() && order <= 1 && precision >= 1 && precision + offset <= 8 * bytes;
  return fits ? std::optional(NbitElement{bytes, precision}) : std::nullopt;
}

std::optional<NbitElement> array_of(Decoder& values, int64_t bytes, int depth) {
  const auto element = nbit_element(values, depth + 1);
  const bool fits = element && element->bytes <= bytes && bytes % element->bytes == 0;
  return fits ? std::optional(NbitElement{bytes, bytes / element->bytes * element->bits}) : std::nullopt;
}

std::optional<NbitElement> compound_of(Decoder& values, int64_t bytes, int depth) {
  const int64_t members = values.number(4);
  NbitElement whole{bytes, 0};
  int64_t member_bytes = 0;
  for (int64_t i = 0; i < members; ++i) {
    const int64_t offset = values.number(4);
    const auto member = nbit_element(values, depth + 1);
    if (!member || offset > bytes || member->bytes > bytes - offset) {
      return std::nullopt;
    }
    whole.bits += member->bits;
    member_bytes += member->bytes;
  }
  return members >= 1 && member_bytes <= bytes ? std::optional(whole) : std::nullopt;
}

}  // namespace

std::optional<NbitElement> nbit_element(Decoder& values, int depth) {
  constexpr int64_t kAtomic = 1, kArray = 2, kCompound = 3, kUntouched = 4;
  const int64_t kind = values.number(4);
  const int64_t bytes = values.number(4);
  if (!values.well() || bytes < 1 || depth > kDeepest) {
    return std::nullopt;
  }
  switch (kind) {
    case kAtomic:
      return number_of(values, bytes);
    case kArray:
      return array_of(values, bytes, depth);
    case kCompound:
      return compound_of(values, bytes, depth);
    default:
      return kind == kUntouched ? std::optional(NbitElement{bytes, 8 * bytes}) : std::nullopt;
  }
}

}  // namespace stria::container::h5
