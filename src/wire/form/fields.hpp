// Fields that messages share, written and read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "wire/form/codec.hpp"

namespace stria::wire {

using Identity = std::array<std::byte, 16>;  ///< identity of a session, a server, a store: random

inline constexpr size_t kMaxTextBytes = 1024;

inline void put_flag(Writer& writer, bool flag) {
  writer.fixed(static_cast<uint8_t>(flag));
}

inline bool get_flag(Reader& reader) {
  const auto value = reader.fixed<uint8_t>();
  if (value > 1) {
    reader.fail();
  }
  return value == 1;
}

template <size_t size>
void get_bytes(Reader& reader, std::array<std::byte, size>& to) {
  const auto from = reader.bytes(size);
  std::copy(from.begin(), from.end(), to.begin());
}

/// \pre value >= 0: the other side takes it for damage otherwise
inline void put_natural(Writer& writer, int64_t value) {
  STRIA_ASSERT(value >= 0, value);
  writer.natural(static_cast<uint64_t>(value));
}

template <typename Entry, typename Put>
void put_list(Writer& writer, const std::vector<Entry>& list, Put put) {
  writer.natural(list.size());
  for (const Entry& entry : list) {
    put(entry);
  }
}

/// The list grows with what really comes, not with what is announced.
template <typename Entry, typename Get>
void get_list(Reader& reader, std::vector<Entry>& list, uint64_t most, Get get) {
  const uint64_t count = reader.natural_up_to(most);
  for (uint64_t i = 0; i < count && !reader.failed(); ++i) {
    get(list.emplace_back());
  }
}

}  // namespace stria::wire
