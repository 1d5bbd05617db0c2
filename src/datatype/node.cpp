#include "datatype/node.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"

namespace stria::datatype {
namespace {

uint64_t mix(uint64_t seed, uint64_t value) {
  uint64_t x = seed * 0x9e3779b97f4a7c15u + value + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

Status overflow() {
  return Status(ErrorCode::kInvalidArgument, "datatype: a size or an offset reaches 2^62 bytes");
}

Status too_deep() {
  return Status(ErrorCode::kInvalidArgument, "datatype: nested deeper than " + std::to_string(kMaxDepth) + " levels");
}

bool bounded_add(int64_t a, int64_t b, int64_t* result) {
  return checked_add(a, b, result) && within_limit(*result);
}

bool bounded_multiply(int64_t a, int64_t b, int64_t* result) {
  return checked_multiply(a, b, result) && within_limit(*result);
}

uint64_t fingerprint_of(const Node& node) {
  uint64_t hash = mix(static_cast<uint64_t>(node.kind), static_cast<uint64_t>(node.size));
  hash = mix(hash, static_cast<uint64_t>(node.count));
  hash = mix(hash, static_cast<uint64_t>(node.stride));
  for (int64_t displacement : node.displacements) {
    hash = mix(hash, static_cast<uint64_t>(displacement));
  }
  hash = mix(hash, static_cast<uint64_t>(node.entry_bytes));
  for (int64_t offset : node.stream_offsets) {
    hash = mix(hash, static_cast<uint64_t>(offset));
  }
  for (const NodePtr& child : node.children) {
    hash = mix(hash, child->fingerprint);
  }
  return hash;
}

NodePtr finish(std::shared_ptr<Node> node) {
  node->fingerprint = fingerprint_of(*node);
  return node;
}

/// True when all neighbours are equally far apart and all entries have the same size.
bool is_regular(const Node& node) {
  const auto& at = node.displacements;
  for (size_t i = 2; i < at.size(); ++i) {
    if (at[i] - at[i - 1] != at[1]) {
      return false;
    }
  }
  return node.entry_bytes > 0;
}

/// Adds entry `index` at `displacement` to the sums and bounds of `node`.
bool append_entry(Node& node, int64_t displacement, const Node& entry) {
  int64_t low = 0;
  int64_t high = 0;
  int64_t total = 0;
  if (!within_limit(displacement) || !bounded_add(displacement, entry.low, &low) ||
      !bounded_add(displacement, entry.high, &high) || !bounded_add(node.size, entry.size, &total)) {
    return false;
  }
  node.is_sorted = node.is_sorted && entry.is_sorted && (node.count == 0 || low >= node.high);
  node.low = node.count == 0 ? low : std::min(node.low, low);
  node.high = node.count == 0 ? high : std::max(node.high, high);
  node.size = total;
  node.pieces += entry.pieces;
  node.depth = std::max(node.depth, entry.depth + 1);
  node.list_entries =
      std::min(node.list_entries + 1 + (node.kind == NodeKind::kIndexed ? entry.list_entries : 0), kMostListEntries);
  node.displacements.push_back(displacement);
  if (node.entry_bytes == 0) {
    node.stream_offsets.push_back(total);
  }
  ++node.count;
  return true;
}

/// `entry_bytes` is the size of every entry, or 0 where sizes differ.
std::shared_ptr<Node> new_indexed(NodeKind kind, size_t capacity, int64_t entry_bytes) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->displacements.reserve(capacity);
  node->entry_bytes = entry_bytes;
  if (entry_bytes == 0) {
    node->stream_offsets.reserve(capacity + 1);
    node->stream_offsets.push_back(0);
  }
  return node;
}

Result<NodePtr> finish_indexed(std::shared_ptr<Node> node) {
  if (node->depth > kMaxDepth) {
    return too_deep();
  }
  if (node->children.size() <= 1 && is_regular(*node)) {
    NodePtr child = node->children.empty() ? make_run(node->entry_bytes) : node->children[0];
    return make_strided(node->count, node->displacements[1], std::move(child));
  }
  return finish(std::move(node));
}

/// Calls visit(displacement, bytes) for the runs of a list, in its order. Empty runs are dropped,
/// and runs that touch are joined.
template <typename Visit>
Status for_each_run(const BlockList& list, Visit&& visit) {
  int64_t begin = 0;
  int64_t end = 0;
  for (size_t i = 0; i < list.displacements.size(); ++i) {
    if (list.length(i) == 0 || list.length_unit == 0) {
      continue;
    }
    int64_t at = 0;
    int64_t bytes = 0;
    int64_t stop = 0;
    if (!checked_multiply(list.displacements[i], list.displacement_unit, &at) || !bounded_add(at, list.first_byte, &at) ||
        !bounded_multiply(list.length(i), list.length_unit, &bytes) || !bounded_add(at, bytes, &stop)) {
      return overflow();
    }
    if (begin < end && at == end) {
      if (!within_limit(stop - begin)) {
        return overflow();
      }
      end = stop;
      continue;
    }
    if (begin < end) {
      visit(begin, end - begin);
    }
    begin = at;
    end = stop;
  }
  if (begin < end) {
    visit(begin, end - begin);
  }
  return Status();
}

void drop_empty_and_join(std::vector<PlacedNode>& entries) {
  size_t kept = 0;
  for (PlacedNode& entry : entries) {
    if (entry.node->size == 0) {
      continue;
    }
    PlacedNode* last = kept > 0 ? &entries[kept - 1] : nullptr;
    int64_t end = 0;
    if (last != nullptr && last->node->kind == NodeKind::kRun && entry.node->kind == NodeKind::kRun &&
        bounded_add(last->displacement, last->node->size, &end) && end == entry.displacement &&
        within_limit(last->node->size + entry.node->size)) {
      last->node = make_run(last->node->size + entry.node->size);
      continue;
    }
    if (&entries[kept] != &entry) {
      entries[kept] = std::move(entry);
    }
    ++kept;
  }
  entries.resize(kept);
}

bool all_runs(const std::vector<PlacedNode>& entries) {
  return std::all_of(entries.begin(), entries.end(), [](const PlacedNode& e) { return e.node->kind == NodeKind::kRun; });
}

bool all_equal(const std::vector<PlacedNode>& entries) {
  return std::all_of(entries.begin(), entries.end(),
                     [&](const PlacedNode& e) { return equal_nodes(*e.node, *entries.front().node); });
}

Result<PlacedNode> blocks_of_runs(const std::vector<PlacedNode>& entries) {
  std::vector<int64_t> at;
  std::vector<int64_t> bytes;
  for (const PlacedNode& entry : entries) {
    at.push_back(entry.displacement);
    bytes.push_back(entry.node->size);
  }
  return make_blocks({.displacements = at, .lengths = bytes});
}

/// Compares two trees in which sub-trees may be shared. Each pair of nodes is compared only once.
class Comparison {
 public:
  bool equal(const Node& a, const Node& b) {
    if (&a == &b) {
      return true;
    }
    if (a.fingerprint != b.fingerprint || a.kind != b.kind || a.size != b.size || a.count != b.count || a.stride != b.stride ||
        a.displacements != b.displacements || a.entry_bytes != b.entry_bytes || a.stream_offsets != b.stream_offsets ||
        a.children.size() != b.children.size()) {
      return false;
    }
    if (a.children.size() > 1 && !seen_.insert({&a, &b}).second) {
      return true;  // a pair seen before was equal, or the comparison would have ended
    }
    return std::equal(a.children.begin(), a.children.end(), b.children.begin(),
                      [this](const NodePtr& x, const NodePtr& y) { return equal(*x, *y); });
  }

 private:
  std::set<std::pair<const Node*, const Node*>> seen_;
};

}  // namespace

NodePtr empty_node() {
  static const NodePtr node = finish(std::make_shared<Node>());
  return node;
}

NodePtr make_run(int64_t bytes) {
  STRIA_ASSERT(0 <= bytes && bytes < kOffsetLimit, bytes);
  if (bytes == 0) {
    return empty_node();
  }
  auto node = std::make_shared<Node>();
  node->kind = NodeKind::kRun;
  node->size = bytes;
  node->high = bytes;
  node->pieces = 1;
  node->depth = 1;
  return finish(std::move(node));
}

Result<NodePtr> make_strided(int64_t count, int64_t stride, NodePtr child) {
  STRIA_ASSERT(count >= 0, count);
  if (count == 0 || child->size == 0) {
    return empty_node();
  }
  if (count == 1) {
    return child;
  }
  int64_t size = 0;
  int64_t last = 0;
  int64_t low = 0;
  int64_t high = 0;
  if (!bounded_multiply(count, child->size, &size) || !bounded_multiply(count - 1, stride, &last) ||
      !bounded_add(child->low, std::min<int64_t>(last, 0), &low) ||
      !bounded_add(child->high, std::max<int64_t>(last, 0), &high)) {
    return overflow();
  }
  if (child->kind == NodeKind::kRun && stride == child->size) {
    return make_run(size);
  }
  int64_t chained = 0;
  if (child->kind == NodeKind::kStrided && checked_multiply(child->count, child->stride, &chained) && stride == chained) {
    return make_strided(count * child->count, child->stride, child->children[0]);
  }
  if (child->depth + 1 > kMaxDepth) {
    return too_deep();
  }
  auto node = std::make_shared<Node>();
  node->kind = NodeKind::kStrided;
  node->is_sorted = child->is_sorted && stride >= child->high;
  node->depth = child->depth + 1;
  node->size = size;
  node->low = low;
  node->high = high;
  node->pieces = count * child->pieces;
  node->list_entries = child->list_entries;
  node->count = count;
  node->stride = stride;
  node->children.push_back(std::move(child));
  return finish(std::move(node));
}

// Walks the list twice: the first walk finds how much memory the second fills.
Result<PlacedNode> make_blocks(const BlockList& list) {
  STRIA_ASSERT(std::all_of(list.lengths.begin(), list.lengths.end(), [](int64_t length) { return length >= 0; }));
  size_t count = 0;
  int64_t first = 0;
  int64_t common_bytes = 0;
  bool differ = false;
  STRIA_RETURN_IF_ERROR(for_each_run(list, [&](int64_t at, int64_t bytes) {
    first = count == 0 ? at : first;
    differ = differ || (count > 0 && bytes != common_bytes);
    common_bytes = bytes;
    ++count;
  }));
  if (count == 0) {
    return PlacedNode{0, empty_node()};
  }
  if (count == 1) {
    return PlacedNode{first, make_run(common_bytes)};
  }
  auto node = new_indexed(NodeKind::kBlocks, count, differ ? 0 : common_bytes);
  Node run;
  run.pieces = 1;
  bool fits = true;
  STRIA_RETURN_IF_ERROR(for_each_run(list, [&](int64_t at, int64_t bytes) {
    run.size = run.high = bytes;
    fits = fits && append_entry(*node, at - first, run);
  }));
  if (!fits) {
    return overflow();
  }
  STRIA_ASSIGN_OR_RETURN(NodePtr done, finish_indexed(std::move(node)));
  return PlacedNode{first, std::move(done)};
}

Result<PlacedNode> make_indexed(std::vector<PlacedNode> entries) {
  drop_empty_and_join(entries);
  if (entries.empty()) {
    return PlacedNode{0, empty_node()};
  }
  if (entries.size() == 1) {
    return std::move(entries.front());
  }
  if (all_runs(entries)) {
    return blocks_of_runs(entries);
  }
  const int64_t first = entries.front().displacement;
  const bool uniform = all_equal(entries);
  const int64_t entry_bytes = entries.front().node->size;
  const bool one_size =
      std::all_of(entries.begin(), entries.end(), [&](const PlacedNode& e) { return e.node->size == entry_bytes; });
  auto node = new_indexed(NodeKind::kIndexed, entries.size(), one_size ? entry_bytes : 0);
  node->children.reserve(uniform ? 1 : entries.size());
  for (PlacedNode& entry : entries) {
    int64_t displacement = 0;
    if (!within_limit(entry.displacement) || !bounded_add(entry.displacement, -first, &displacement) ||
        !append_entry(*node, displacement, *entry.node)) {
      return overflow();
    }
    if (!uniform || node->children.empty()) {
      node->children.push_back(std::move(entry.node));
    }
  }
  STRIA_ASSIGN_OR_RETURN(NodePtr done, finish_indexed(std::move(node)));
  return PlacedNode{first, std::move(done)};
}

bool equal_nodes(const Node& a, const Node& b) {
  return Comparison().equal(a, b);
}

int64_t stream_bytes_below(const Node& root, int64_t offset) {
  STRIA_ASSERT(root.is_sorted);
  const Node* node = &root;
  int64_t bytes = 0;
  while (true) {
    if (offset <= 0) {
      return bytes;
    }
    if (offset >= node->high) {
      return bytes + node->size;
    }
    if (node->kind == NodeKind::kRun) {
      return bytes + offset;
    }
    if (node->kind == NodeKind::kStrided) {
      const int64_t index = offset / node->stride;
      bytes += index * node->children[0]->size;
      offset -= index * node->stride;
      node = node->children[0].get();
      continue;
    }
    const auto& at = node->displacements;
    const int64_t index = std::upper_bound(at.begin(), at.end(), offset) - at.begin() - 1;
    const auto entry = static_cast<size_t>(index);
    bytes += node->stream_offset(index);
    offset -= at[entry];
    if (node->kind == NodeKind::kBlocks) {
      return bytes + std::min(offset, node->entry_size(index));
    }
    node = &node->child(index);
  }
}

}  // namespace stria::datatype
