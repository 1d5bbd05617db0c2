// Users, groups and modes as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/tree.hpp"
#include "wire/trust/user.hpp"

namespace stria::tool {

/// Returns the name on this machine, or the number.
std::string user_name(uint32_t uid);
std::string group_name(uint32_t gid);

/// Returns a text such as "drwxr-xr-x".
std::string mode_text(wire::NameKind kind, uint32_t mode);

/// Finds the number by a name or a number. Throws stria::Error (kInvalidArgument) for a name that
/// this machine doesn't know.
uint32_t user_id(const std::string& text);
uint32_t group_id(const std::string& text);

/// Returns the user with all groups that this machine knows of; none where it doesn't know the
/// user.
std::optional<wire::User> user_of(const std::string& name_or_number);

/// `now` changed by "640", or by "u+x,go-w" and the like. Throws stria::Error (kInvalidArgument).
uint32_t changed_mode(uint32_t now, const std::string& text);

}  // namespace stria::tool
