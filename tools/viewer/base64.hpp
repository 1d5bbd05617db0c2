// Bytes as text (RFC 4648, section 4).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stria::tool {

/// Appends the base64 of `bytes` to `text`.
inline void append_base64(std::span<const std::byte> bytes, std::string& text) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t begin = text.size();
  text.resize(begin + (bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data() + begin;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    const unsigned group = std::to_integer<unsigned>(bytes[i]) << 16 |
                           (left > 1 ? std::to_integer<unsigned>(bytes[i + 1]) << 8 : 0U) |
                           (left > 2 ? std::to_integer<unsigned>(bytes[i + 2]) : 0U);
    out[0] = kDigits[group >> 18];
    out[1] = kDigits[group >> 12 & 63];
    if (left > 1) {
      out[2] = kDigits[group >> 6 & 63];
    }
    if (left > 2) {
      out[3] = kDigits[group & 63];
    }
    out += 4;
  }
}

}  // namespace stria::tool
