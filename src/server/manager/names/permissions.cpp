#include "server/manager/names/permissions.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace stria::server {

namespace {

using wire::kMayEnter;
using wire::kMayRead;
using wire::kMayWrite;

constexpr uint8_t kEverything = kMayRead | kMayWrite | kMayEnter;

std::string described(const wire::Ownership& owner) {
  std::array<char, 8> mode{};
  std::snprintf(mode.data(), mode.size(), "%04o", owner.mode);
  return "of user " + std::to_string(owner.uid) + " and group " + std::to_string(owner.gid) + " with mode " + mode.data();
}

std::string verbs(uint8_t rights) {
  std::string text;
  for (const auto& [right, verb] : {std::pair{kMayRead, "read"}, {kMayWrite, "write"}, {kMayEnter, "enter"}}) {
    if ((rights & right) != 0) {
      text += (text.empty() ? "" : " and ") + std::string(verb);
    }
  }
  return text;
}

Status refused(const Caller& caller, const std::string& what) {
  return Status(ErrorCode::kPermissionDenied,
                "Permission denied: user " + std::to_string(caller.user.uid) + " may not " + what);
}

}  // namespace

uint8_t rights_of(const Caller& caller, const wire::Ownership& owner) {
  if (caller.is_super) {
    return kEverything;
  }
  const bool of_user = caller.user.uid == owner.uid;
  const unsigned shift = of_user ? 6 : caller.user.in_group(owner.gid) ? 3 : 0;
  return static_cast<uint8_t>(owner.mode >> shift & kEverything);
}

Status check_rights(const Caller& caller, const wire::Ownership& owner, uint8_t wanted) {
  const auto lacking = static_cast<uint8_t>(wanted & ~rights_of(caller, owner));
  return lacking == 0 ? Status() : refused(caller, verbs(lacking) + " what is " + described(owner));
}

Status check_removal(const Caller& caller, const wire::Ownership& directory, const wire::Ownership& owner) {
  STRIA_RETURN_IF_ERROR(check_rights(caller, directory, kMayWrite | kMayEnter));
  const bool may = (directory.mode & kSticky) == 0 || owns(caller, owner) || owns(caller, directory);
  return may ? Status() : refused(caller, "remove or rename what is " + described(owner) + " in a sticky directory");
}

Result<wire::Ownership> change_ownership(const Caller& caller, const NewOwnership& change) {
  const auto& [now, wanted] = change;
  if (!owns(caller, now)) {
    return refused(caller, "change what is " + described(now));
  }
  if (wanted.uid != now.uid && !caller.is_super) {
    return refused(caller, "give away what is " + described(now));
  }
  if (wanted.gid != now.gid && !caller.is_super && !caller.user.in_group(wanted.gid)) {
    return refused(caller, "give it to group " + std::to_string(wanted.gid) + ", being no member");
  }
  return wanted;
}

}  // namespace stria::server
