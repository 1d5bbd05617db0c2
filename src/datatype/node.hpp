// The normalised tree inside a Datatype.
//
// Problem: equal layouts arrive under many descriptions (a vector of vectors, a subarray, a list of blocks) and must be
// compared, walked and sent cheaply. Method: five node kinds; a node's offsets are relative to the first byte of its own
// stream, so that sub-trees don't depend on where they are used; the makers below reduce every description to the simplest kind
// that holds it. Cost: a node is built in time and memory in proportion to its own entries.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "stria/status.hpp"

namespace stria::datatype {

/// Every size and offset in a tree lies strictly between -kOffsetLimit and kOffsetLimit, so that sums of two of them never
/// overflow.
inline constexpr int64_t kOffsetLimit = int64_t{1} << 62;

/// What Node::list_entries counts to.
inline constexpr int64_t kMostListEntries = int64_t{1} << 40;

/// The deepest tree. Deeper ones don't occur in programs, and recursion over a tree needs a bound.
inline constexpr int kMaxDepth = 64;

enum class NodeKind : uint8_t {
  kEmpty = 0,  ///< no bytes
  kRun,        ///< `size` consecutive bytes
  kStrided,    ///< `count` >= 2 copies of children[0], `stride` bytes apart
  kBlocks,     ///< `count` >= 2 runs of bytes at displacements[i]
  kIndexed,    ///< `count` >= 2 sub-trees at displacements[i]: children[0] for all of them, or one child each
};

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// Immutable once made. The first byte of the stream is at offset 0; other bytes may be at negative offsets.
struct Node {
  NodeKind kind = NodeKind::kEmpty;
  bool is_sorted = true;  ///< offsets increase along the stream and no byte occurs twice
  int depth = 0;
  int64_t size = 0;          ///< bytes of data
  int64_t low = 0;           ///< offset of the lowest byte
  int64_t high = 0;          ///< offset after the highest byte
  int64_t pieces = 0;        ///< contiguous pieces
  int64_t list_entries = 0;  ///< of all lists in the tree, sub-trees as often as they are used; at most kMostListEntries
  uint64_t fingerprint = 0;
  int64_t count = 0;
  int64_t stride = 0;
  int64_t entry_bytes = 0;              ///< kBlocks, kIndexed: of every entry, or 0 where they differ
  std::vector<int64_t> stream_offsets;  ///< where they differ: count + 1 prefix sums of the entries' sizes
  std::vector<int64_t> displacements;   ///< kBlocks, kIndexed: count offsets, the first of them 0
  std::vector<NodePtr> children;

  /// Bytes of the stream before entry `index`. \pre kBlocks or kIndexed, 0 <= index <= count
  int64_t stream_offset(int64_t index) const {
    return entry_bytes > 0 ? index * entry_bytes : stream_offsets[static_cast<size_t>(index)];
  }
  int64_t entry_size(int64_t index) const {
    return entry_bytes > 0 ? entry_bytes : stream_offset(index + 1) - stream_offset(index);
  }
  /// The child of entry `index`. \pre kStrided or kIndexed
  const Node& child(int64_t index) const { return *children[children.size() == 1 ? 0 : static_cast<size_t>(index)]; }
};

/// A tree and the offset of its first byte.
struct PlacedNode {
  int64_t displacement = 0;
  NodePtr node;
};

/// True when `value` may stand in a tree.
inline bool within_limit(int64_t value) {
  return -kOffsetLimit < value && value < kOffsetLimit;
}

NodePtr empty_node();

/// \pre 0 <= bytes < kOffsetLimit
NodePtr make_run(int64_t bytes);

/// `count` copies of `child`, `stride` bytes apart. kInvalidArgument on overflow or too deep a tree. \pre count >= 0
Result<NodePtr> make_strided(int64_t count, int64_t stride, NodePtr child);

/// A list of blocks as a program gives it.
struct BlockList {
  std::span<const int64_t> displacements;
  int64_t displacement_unit = 1;       ///< bytes that a displacement counts
  int64_t first_byte = 0;              ///< added to all of them, in bytes, but for blocks of length 0
  std::span<const int64_t> lengths{};  ///< as many as displacements, or none: then all have
  int64_t common_length = 0;           ///< this one
  int64_t length_unit = 1;             ///< bytes that a length counts

  int64_t length(size_t index) const { return lengths.empty() ? common_length : lengths[index]; }
};

/// The runs of a list; empty ones are dropped, touching ones joined. \pre lengths and units >= 0
Result<PlacedNode> make_blocks(const BlockList& list);

/// Sub-trees at their displacements, in stream order.
Result<PlacedNode> make_indexed(std::vector<PlacedNode> entries);

/// True when both trees describe the same bytes by the same nodes.
bool equal_nodes(const Node& a, const Node& b);

/// Bytes of the stream at offsets below `offset` (relative to the node's first byte). O(depth log). \pre node.is_sorted
int64_t stream_bytes_below(const Node& node, int64_t offset);

}  // namespace stria::datatype
