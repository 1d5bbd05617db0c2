// How nodes share a file system: whether locks reach from one to another, and whether each keeps a cache that the others don't
// see.
//
// The kind of the file system tells most, the options of its mount the rest. Of what isn't known the worst is assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stria::storage {

struct Sharing {
  bool locks_reach_all = false;
  bool caches_apart = true;
  bool hears_late = false;  ///< the system's page cache is told of others' writes a moment after they have returned
};

/// A mount: its type, and all its options with a comma before and behind each.
struct Mount {
  std::string type;
  std::string options;
};

/// The mount of the device `major`:`minor` in the text of /proc/self/mountinfo.
std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor);

/// True for file systems whose files no other node reaches but through this one.
bool is_node_local(uint32_t magic);
/// True for network file systems that give a file the same number on every node.
bool has_common_numbers(uint32_t magic);

/// True for file systems whose clients send, with the bytes that were written, all of their page as they remember it, unless
/// the node holds a lock of a part of the file: NFS. Nodes that write different bytes of a page would undo each other.
bool sends_whole_pages(uint32_t magic);

/// `magic` is the number of statfs(2).
Sharing sharing_of(uint32_t magic, const Mount& mount);

/// The same of an open file.
Sharing find_sharing(int descriptor, uint32_t magic);

}  // namespace stria::storage
