// The normalised tree inside a Datatype.
//
// Problem: the same layout comes in many descriptions (a vector of vectors, a subarray, a list of
// blocks). They must be cheap to compare, walk and send.
// Method: there are five kinds of nodes. The offsets in a node are relative to the first byte of
// its own stream, so that sub-trees don't depend on where they are used. The makers below reduce
// every description to the simplest kind that holds it.
// Cost: time and memory to build a node are in proportion to its own entries.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "stria/status.hpp"

namespace stria::datatype {

/// Every size and offset in a tree lies strictly between -kOffsetLimit and kOffsetLimit, so that
/// sums of two of them never overflow.
inline constexpr int64_t kOffsetLimit = int64_t{1} << 62;

/// The largest value of Node::list_entries.
inline constexpr int64_t kMostListEntries = int64_t{1} << 40;

/// The deepest tree. Deeper ones don't occur in programs, and recursion over a tree needs a bound.
inline constexpr int kMaxDepth = 64;

enum class NodeKind : uint8_t {
  kEmpty = 0,  ///< no bytes
  kRun,        ///< `size` consecutive bytes
  kStrided,    ///< `count` >= 2 copies of children[0], `stride` bytes apart
  kBlocks,     ///< `count` >= 2 runs of bytes at displacements[i]
  /// `count` >= 2 sub-trees at displacements[i]: children[0] for all of them, or one child each.
  kIndexed,
};

struct Node;
using NodePtr = std::shared_ptr<const Node>;

/// Immutable once made. The first byte of the stream is at offset 0; other bytes may be at
/// negative offsets.
struct Node {
  NodeKind kind = NodeKind::kEmpty;
  bool is_sorted = true;  ///< offsets increase along the stream, and no byte occurs twice
  int depth = 0;
  int64_t size = 0;    ///< bytes of data
  int64_t low = 0;     ///< offset of the lowest byte
  int64_t high = 0;    ///< offset after the highest byte
  int64_t pieces = 0;  ///< contiguous pieces
  /// Entries of all lists in the tree, where a sub-tree counts as often as it is used; at most
  /// kMostListEntries.
  int64_t list_entries = 0;
  uint64_t fingerprint = 0;
  int64_t count = 0;
  int64_t stride = 0;
  /// kBlocks, kIndexed: size of every entry, or 0 where sizes differ.
  int64_t entry_bytes = 0;
  std::vector<int64_t> stream_offsets;  ///< where sizes differ: count + 1 prefix sums of them
  std::vector<int64_t> displacements;   ///< kBlocks, kIndexed: count offsets, the first of them 0
  std::vector<NodePtr> children;

  /// Returns the bytes of the stream before entry `index`. \pre kBlocks or kIndexed, 0 <= index <=
  /// count
  int64_t stream_offset(int64_t index) const {
    STRIA_ASSERT(kind == NodeKind::kBlocks || kind == NodeKind::kIndexed, kind);
    STRIA_ASSERT(0 <= index && index <= count, index, count);
    return entry_bytes > 0 ? index * entry_bytes : stream_offsets[static_cast<size_t>(index)];
  }
  int64_t entry_size(int64_t index) const {
    return entry_bytes > 0 ? entry_bytes : stream_offset(index + 1) - stream_offset(index);
  }
  /// Returns the child of entry `index`. \pre kStrided or kIndexed
  const Node& child(int64_t index) const {
    STRIA_ASSERT(kind == NodeKind::kStrided || kind == NodeKind::kIndexed, kind);
    return *children[children.size() == 1 ? 0 : static_cast<size_t>(index)];
  }
};

/// A tree and the offset of its first byte.
struct PlacedNode {
  int64_t displacement = 0;
  NodePtr node;
};

/// True when `value` may be a size or offset in a tree.
inline bool within_limit(int64_t value) {
  return -kOffsetLimit < value && value < kOffsetLimit;
}

NodePtr empty_node();

/// \pre 0 <= bytes < kOffsetLimit
NodePtr make_run(int64_t bytes);

/// `count` copies of `child`, `stride` bytes apart. kInvalidArgument on overflow or too deep a
/// tree. \pre count >= 0
Result<NodePtr> make_strided(int64_t count, int64_t stride, NodePtr child);

/// A list of blocks, as a program gives it.
struct BlockList {
  std::span<const int64_t> displacements;
  int64_t displacement_unit = 1;  ///< bytes of one unit of a displacement
  /// Bytes to add to every displacement; blocks of length 0 don't count.
  int64_t first_byte = 0;
  std::span<const int64_t> lengths{};  ///< one for each displacement; empty when all have
  int64_t common_length = 0;           ///< this one
  int64_t length_unit = 1;             ///< bytes of one unit of a length

  int64_t length(size_t index) const { return lengths.empty() ? common_length : lengths[index]; }
};

/// Makes the runs of a list. Empty ones are dropped, and runs that touch are joined. \pre lengths
/// and units >= 0
Result<PlacedNode> make_blocks(const BlockList& list);

/// Makes a node of sub-trees at their displacements, in stream order.
Result<PlacedNode> make_indexed(std::vector<PlacedNode> entries);

/// True when both trees describe the same bytes by the same nodes.
bool equal_nodes(const Node& a, const Node& b);

/// Returns the bytes of the stream at offsets below `offset`, which is relative to the node's first
/// byte.
/// Cost: O(depth * log(children)). \pre node.is_sorted
int64_t stream_bytes_below(const Node& node, int64_t offset);

}  // namespace stria::datatype
