// Decides who may do what with a name: the system's rules for owner, group and others.
#pragma once

#include <cstdint>

#include "stria/status.hpp"
#include "wire/trust/user.hpp"

namespace stria::server {

/// Says who asks, as the connection has proven it.
struct Caller {
  wire::User user;
  bool trusted = false;   ///< may speak as a server of the store
  bool is_super = false;  ///< may do everything
};

// Only owners take names away from such a directory; what is made in it has its group.
inline constexpr uint32_t kSticky = 01000;
inline constexpr uint32_t kGroupFollows = 02000;

/// Tells which of kMayRead, kMayWrite and kMayEnter the caller has.
uint8_t rights_of(const Caller& caller, const wire::Ownership& owner);

/// kPermissionDenied, with who is refused what and why, unless the caller has all of `wanted`.
Status check_rights(const Caller& caller, const wire::Ownership& owner, uint8_t wanted);

/// True for the owner, and for who may do everything.
inline bool owns(const Caller& caller, const wire::Ownership& owner) {
  return caller.is_super || caller.user.uid == owner.uid;
}

/// Tells whether a name in the directory may be taken away. `owner` is that of what it names.
Status check_removal(const Caller& caller, const wire::Ownership& directory, const wire::Ownership& owner);

/// Says what the ownership becomes; kPermissionDenied when the caller may not make it so.
struct NewOwnership {
  const wire::Ownership& now;
  const wire::Ownership& wanted;
};
Result<wire::Ownership> change_ownership(const Caller& caller, const NewOwnership& change);

}  // namespace stria::server
