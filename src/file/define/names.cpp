#include "file/define/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace stria::file {

namespace {

// Returns how many bytes follow the first byte of a character, and the least character that needs
// so many; -1: not a first byte.
int following_bytes(uint8_t first, uint32_t& least) {
  if (first < 0x80) {
    least = 0;
    return 0;
  }
  if (first >= 0xc2 && first < 0xe0) {
    least = 0x80;
    return 1;
  }
  if (first >= 0xe0 && first < 0xf0) {
    least = 0x800;
    return 2;
  }
  least = 0x10000;
  return first >= 0xf0 && first < 0xf5 ? 3 : -1;
}

bool is_utf8(const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    uint32_t least = 0;
    const int more = following_bytes(first, least);
    if (more < 0 || at + static_cast<size_t>(more) >= text.size()) {
      return false;
    }
    uint32_t character = more == 0 ? first : first & (0x3fu >> more);
    for (int i = 1; i <= more; ++i) {
      const auto byte = static_cast<uint8_t>(text[at + static_cast<size_t>(i)]);
      if ((byte & 0xc0) != 0x80) {
        return false;
      }
      character = character << 6 | (byte & 0x3fu);
    }
    const bool surrogate = character >= 0xd800 && character < 0xe000;
    if (character < least || character > 0x10ffff || surrogate) {
      return false;
    }
    at += static_cast<size_t>(more) + 1;
  }
  return true;
}

// Returns a name for a message, which must be valid text itself.
std::string shown(const std::string& name) {
  constexpr size_t kMost = 60;
  std::string text;
  for (const char byte : name.substr(0, kMost)) {
    const auto value = static_cast<unsigned char>(byte);
    text += value >= 0x20 && value < 0x7f ? std::string(1, byte) : fmt::format("\\x{:02x}", value);
  }
  return name.size() > kMost ? text + "…" : text;
}

Status refused(const std::string& name, const std::string& reason) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("'{}' can't be a name in a file: {}", shown(name), reason));
}

Status check_text(const std::string& name) {
  if (name.size() > kLongestNameBytes) {
    return refused(name, fmt::format("it has {} bytes, {} are allowed", name.size(), kLongestNameBytes));
  }
  if (name.find('\0') != std::string::npos) {
    return refused(name, "it has a NUL in it");
  }
  return is_utf8(name) ? Status() : refused(name, "its bytes are not UTF-8");
}

std::string without_slashes_around(const std::string& path) {
  const size_t begin = path.find_first_not_of('/');
  return begin == std::string::npos ? "" : path.substr(begin, path.find_last_not_of('/') - begin + 1);
}

Status check_path(const std::string& path, const std::string& inner) {
  STRIA_RETURN_IF_ERROR(check_text(path));
  for (size_t at = 0; at <= inner.size();) {
    const size_t end = std::min(inner.find('/', at), inner.size());
    const std::string part = inner.substr(at, end - at);
    if (part.empty() || part == "." || part == "..") {
      return refused(path, part.empty() ? "a part of it is empty" : fmt::format("'{}' has a meaning of its own", part));
    }
    at = end + 1;
  }
  if (inner == ".stria" || inner.starts_with(".stria/")) {
    return refused(path, "the library keeps its checksums in '.stria'");
  }
  return Status();
}

}  // namespace

std::string own_path(const char* name) {
  return std::string(kOwnGroup) + "/" + name;
}

std::string without_leading_slash(const std::string& path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

Status check_dataset_name(const std::string& path) {
  const std::string inner = without_slashes_around(path);
  return inner.empty() ? refused(path, "it is empty") : check_path(path, inner);
}

Status check_attribute_name(const std::string& object, const std::string& name) {
  if (const std::string inner = without_slashes_around(object); !inner.empty()) {
    STRIA_RETURN_IF_ERROR(check_path(object, inner));
  }
  return name.empty() ? refused(name, "the name of an attribute is empty") : check_text(name);
}

Status check_link_target(const std::string& path, const std::string& target) {
  const Status text = target.empty() ? refused(target, "it is empty") : check_text(target);
  return text.with_context(fmt::format("link '{}'", shown(path)));
}

}  // namespace stria::file
