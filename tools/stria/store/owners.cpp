#include "store/owners.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "stria/status.hpp"

namespace stria::tool {

namespace {

std::optional<uint32_t> number_in(const std::string& text, int base = 10) {
  size_t used = 0;
  try {
    const unsigned long value = std::stoul(text, &used, base);
    const bool good = used == text.size() && text[0] >= '0' && text[0] <= '9' && value < UINT32_MAX;
    return good ? std::optional(static_cast<uint32_t>(value)) : std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

const passwd* entry_of(const std::string& text) {
  const auto number = number_in(text);
  return number ? getpwuid(*number) : getpwnam(text.c_str());
}

[[noreturn]] void refuse_mode(const std::string& text) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("'{}' is no mode: give 640, or u+x,go-w", text));
}

constexpr uint32_t kEach = 0111;  // a bit for each of owner, group and others

/// Applies one of the parts between commas.
uint32_t change_part(uint32_t mode, const std::string& part) {
  const size_t sign = part.find_first_of("+-=");
  if (sign == std::string::npos) {
    refuse_mode(part);
  }
  uint32_t whom = sign == 0 ? kEach : 0;
  for (const char letter : part.substr(0, sign)) {
    const size_t at = std::string("ugoa").find(letter);
    if (at == std::string::npos) {
      refuse_mode(part);
    }
    whom |= at == 3 ? kEach : 0100U >> 3 * at;
  }
  uint32_t bits = 0;
  for (const char letter : part.substr(sign + 1)) {
    const size_t at = std::string("rwx").find(letter);
    if (at == std::string::npos) {
      refuse_mode(part);
    }
    bits |= 4U >> at;
  }
  if (part[sign] == '=') {
    mode &= ~(whom * 7);
  }
  return part[sign] == '-' ? mode & ~(whom * bits) : mode | whom * bits;
}

}  // namespace

std::string user_name(uint32_t uid) {
  const passwd* const entry = getpwuid(uid);
  return entry == nullptr ? std::to_string(uid) : entry->pw_name;
}

std::string group_name(uint32_t gid) {
  const group* const entry = getgrgid(gid);
  return entry == nullptr ? std::to_string(gid) : entry->gr_name;
}

std::string mode_text(wire::NameKind kind, uint32_t mode) {
  std::string text(1, "-dl"[static_cast<size_t>(kind)]);
  for (int bit = 8; bit >= 0; --bit) {
    text += (mode >> bit & 1) != 0 ? "xwr"[bit % 3] : '-';
  }
  if ((mode & 02000) != 0) {
    text[6] = (mode & 010) != 0 ? 's' : 'S';
  }
  if ((mode & 01000) != 0) {
    text[9] = (mode & 1) != 0 ? 't' : 'T';
  }
  return text;
}

uint32_t user_id(const std::string& text) {
  if (const auto number = number_in(text)) {
    return *number;
  }
  const passwd* const entry = getpwnam(text.c_str());
  if (entry == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("this machine knows no user '{}'", text));
  }
  return entry->pw_uid;
}

uint32_t group_id(const std::string& text) {
  if (const auto number = number_in(text)) {
    return *number;
  }
  const group* const entry = getgrnam(text.c_str());
  if (entry == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("this machine knows no group '{}'", text));
  }
  return entry->gr_gid;
}

std::optional<wire::User> user_of(const std::string& name_or_number) {
  const passwd* const entry = entry_of(name_or_number);
  if (entry == nullptr) {
    return std::nullopt;
  }
  return wire::User{entry->pw_uid, entry->pw_gid, wire::groups_of(std::string(entry->pw_name), entry->pw_gid)};
}

uint32_t changed_mode(uint32_t now, const std::string& text) {
  if (!text.empty() && text.find_first_not_of("01234567") == std::string::npos) {
    const auto mode = number_in(text, 8);
    if (!mode || *mode > wire::kMaxMode) {
      refuse_mode(text);
    }
    return *mode;
  }
  std::istringstream parts(text);
  uint32_t mode = now;
  for (std::string part; std::getline(parts, part, ',');) {
    mode = change_part(mode, part);
  }
  if (text.empty()) {
    refuse_mode(text);
  }
  return mode;
}

}  // namespace stria::tool
