// Says on whose behalf a client asks, how that is proven, and to whom a name of the store belongs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/form/codec.hpp"

namespace stria::wire {

inline constexpr uint64_t kMaxGroups = 256;
inline constexpr uint32_t kMaxMode = 07777;

/// What somebody may do with a file or a directory; as the system's bits for one of owner, group
/// and others.
inline constexpr uint8_t kMayRead = 4;
inline constexpr uint8_t kMayWrite = 2;
inline constexpr uint8_t kMayEnter = 1;

struct User {
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::vector<uint32_t> groups;  ///< further ones

  bool in_group(uint32_t group) const;
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says how a client proves who it is.
enum class ClaimKind : uint8_t {
  kWord = 0,        ///< not at all; on a Unix socket the kernel tells
  kClusterKey = 1,  ///< it has the cluster's key, and is believed
  kUserKey = 2,     ///< it has the key that was made of the cluster's for this user
};

struct Claim {
  ClaimKind kind = ClaimKind::kWord;
  User user;
  uint64_t until_s = 0;  ///< since 1970, how long a user's key is good
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Returns the user of this process, with as many groups as a claim takes.
User this_user();

/// Returns the further groups that this machine knows of the user of that name, as many as a claim
/// takes.
std::vector<uint32_t> groups_of(const std::string& name, uint32_t gid);
/// Returns the same for a user by its number; none where the machine doesn't know it.
std::vector<uint32_t> groups_of(uint32_t uid, uint32_t gid);

/// Returns the bits of owner, group and others that new files and directories of this process lose.
uint32_t this_umask();

inline uint32_t get_mode(Reader& reader) {
  return static_cast<uint32_t>(reader.natural_up_to(kMaxMode));
}

struct Ownership {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t mode = 0;  ///< the lower 12 bits of the system's
  void put(Writer& writer) const;
  void get(Reader& reader);
};

}  // namespace stria::wire
