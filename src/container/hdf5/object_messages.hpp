// An object header of an existing file, message by message: what the reader finds there, and what a
// file that grows takes over into the header's next version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stria::container::h5 {

struct HeaderMessage {
  int64_t type = 0;
  int64_t flags = 0;
  int64_t order = 0;  ///< of an attribute, where the header keeps it
  std::vector<std::byte> content;
};

/// A link in a group that exists: to a header, or to a path, of another file where `file` isn't
/// empty.
struct GroupMember {
  enum class Kind { kHard, kSoft, kExternal, kOther };
  std::string name;
  Kind kind = Kind::kHard;
  int64_t address = -1;
  std::string target, file;
  int64_t order = -1;  ///< of creation, where the group keeps it
};

/// Without those messages that say where the next ones are, or nothing.
struct ObjectMessages {
  std::vector<HeaderMessage> messages;
  int64_t name_count = 1;          ///< how many links lead to the object, where the header says
  bool orders_attributes = false;  ///< the header keeps the order in which they were made
};

}  // namespace stria::container::h5
