// Describes how nodes share a file system: whether locks reach from one node to another, and
// whether each node keeps a cache that the others don't see.
//
// The kind of the file system tells most of it, and the mount's options tell the rest. Where
// something isn't known, the worst is assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stria::storage {

struct Sharing {
  bool locks_reach_all = false;
  bool caches_apart = true;
  /// The system's page cache is told of others' writes a moment after they have returned.
  bool hears_late = false;
};

/// A mount: its type and its options, with a comma before and behind each option.
struct Mount {
  std::string type;
  std::string options;
};

/// Finds the mount of the device `major`:`minor` in the text of /proc/self/mountinfo.
std::optional<Mount> find_mount(std::string_view mountinfo, unsigned major, unsigned minor);

/// True for file systems whose files other nodes reach only through this node.
bool is_node_local(uint32_t magic);
/// True for network file systems that give a file the same number on every node.
bool has_common_numbers(uint32_t magic);

/// True for file systems (NFS) whose clients send the whole page around the bytes that were
/// written, as they remember it, unless the node holds a lock on a part of the file. Nodes that
/// write different bytes of a page would undo each other's writes.
bool sends_whole_pages(uint32_t magic);

/// `magic` is the number of statfs(2).
Sharing sharing_of(uint32_t magic, const Mount& mount);

/// Returns the same for an open file.
Sharing find_sharing(int descriptor, uint32_t magic);

}  // namespace stria::storage
