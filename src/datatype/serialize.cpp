// The binary form of a Datatype: docs/formats/datatype.md. A description may come from anywhere. So
// the reader rebuilds the tree with the makers that also check a program's own types, and never
// reserves more memory than the input could fill.
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "datatype/node.hpp"
#include "stria/datatype.hpp"

namespace stria {

using datatype::Node;
using datatype::NodeKind;
using datatype::NodePtr;
using datatype::PlacedNode;

namespace {

constexpr uint8_t kVersion = 1;

/// The first byte of a node.
enum class Tag : uint8_t { kEmpty = 0, kRun = 1, kStrided = 2, kBlocks = 3, kUniform = 4, kStructure = 5, kReference = 6 };

uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}

  void byte(uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }

  void natural(int64_t value) { varint(static_cast<uint64_t>(value)); }

  void integer(int64_t value) { varint(zigzag(value)); }

  void node(const Node& node) {
    if (auto known = written_.find(&node); known != written_.end()) {
      tag(Tag::kReference);
      natural(known->second);
      return;
    }
    switch (node.kind) {
      case NodeKind::kEmpty:
        return tag(Tag::kEmpty);
      case NodeKind::kRun:
        tag(Tag::kRun);
        return natural(node.size);
      case NodeKind::kStrided:
        strided(node);
        break;
      case NodeKind::kBlocks:
        blocks(node);
        break;
      case NodeKind::kIndexed:
        indexed(node);
        break;
    }
    const auto number = static_cast<int64_t>(written_.size());
    written_.emplace(&node, number);
  }

 private:
  void tag(Tag value) { byte(static_cast<uint8_t>(value)); }

  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      byte(static_cast<uint8_t>(value | 0x80));
    }
    byte(static_cast<uint8_t>(value));
  }

  void strided(const Node& from) {
    tag(Tag::kStrided);
    natural(from.count);
    integer(from.stride);
    node(*from.children[0]);
  }

  void blocks(const Node& from) {
    tag(Tag::kBlocks);
    natural(from.count);
    for (size_t i = 0; i < from.displacements.size(); ++i) {
      step(from, i);
      natural(from.entry_size(static_cast<int64_t>(i)));
    }
  }

  void indexed(const Node& from) {
    const bool is_uniform = from.children.size() == 1;
    tag(is_uniform ? Tag::kUniform : Tag::kStructure);
    natural(from.count);
    for (size_t i = 0; i < from.displacements.size(); ++i) {
      step(from, i);
      if (!is_uniform) {
        node(*from.children[i]);
      }
    }
    if (is_uniform) {
      node(*from.children[0]);
    }
  }

  /// Writes the distance to the entry before. The first displacement is always 0 and is left out.
  void step(const Node& from, size_t i) {
    if (i > 0) {
      integer(from.displacements[i] - from.displacements[i - 1]);
    }
  }

  std::vector<std::byte>& out_;
  std::unordered_map<const Node*, int64_t> written_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> in) : in_(in) {}

  size_t consumed_bytes() const { return position_; }

  Result<uint8_t> byte() {
    if (position_ == in_.size()) {
      return bad("it ends in the middle");
    }
    return static_cast<uint8_t>(in_[position_++]);
  }

  /// Reads a number from 0 to below 2^62.
  Result<int64_t> natural() {
    STRIA_ASSIGN_OR_RETURN(const uint64_t value, varint());
    if (value >= static_cast<uint64_t>(datatype::kOffsetLimit)) {
      return bad("a number reaches 2^62");
    }
    return static_cast<int64_t>(value);
  }

  Result<int64_t> integer() {
    STRIA_ASSIGN_OR_RETURN(const uint64_t value, varint());
    return unzigzag(value);
  }

  Result<NodePtr> node(int depth) {
    if (depth > datatype::kMaxDepth) {
      return bad("it is nested too deep");
    }
    STRIA_ASSIGN_OR_RETURN(const uint8_t tag, byte());
    switch (static_cast<Tag>(tag)) {
      case Tag::kEmpty:
        return datatype::empty_node();
      case Tag::kRun: {
        STRIA_ASSIGN_OR_RETURN(const int64_t bytes, natural());
        return datatype::make_run(bytes);
      }
      case Tag::kReference:
        return reference();
      case Tag::kStrided:
        return numbered(strided(depth));
      case Tag::kBlocks:
        return numbered(blocks());
      case Tag::kUniform:
        return numbered(uniform(depth));
      case Tag::kStructure:
        return numbered(structure(depth));
    }
    return bad("unknown node kind " + std::to_string(tag));
  }

 private:
  Status bad(const std::string& what) const {
    return Status(ErrorCode::kFormat, "datatype description, byte " + std::to_string(position_) + ": " + what);
  }

  Result<uint64_t> varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      STRIA_ASSIGN_OR_RETURN(const uint8_t next, byte());
      const uint64_t bits = next & 0x7f;
      if (shift == 63 && bits > 1) {
        break;
      }
      value |= bits << shift;
      if ((next & 0x80) == 0) {
        return value;
      }
    }
    return bad("a number does not fit into 64 bits");
  }

  /// Reads a number of entries, each of which takes at least `entry_bytes` of the remaining input.
  Result<size_t> entry_count(size_t entry_bytes) {
    STRIA_ASSIGN_OR_RETURN(const int64_t count, natural());
    // The first entry is one byte shorter than the others: its displacement is left out.
    if (static_cast<uint64_t>(count) > (in_.size() - position_ + 1) / entry_bytes) {
      return bad("it has more entries than the input can hold");
    }
    return static_cast<size_t>(count);
  }

  Status step(size_t i, int64_t& displacement) {
    if (i == 0) {
      return Status();
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t distance, integer());
    return checked_add(displacement, distance, &displacement) ? Status() : bad("a displacement overflows");
  }

  /// Gives a finished node its number. When an equal node was read before, returns that one, so
  /// that trees stay cheap to compare.
  Result<NodePtr> numbered(Result<NodePtr> made) {
    if (!made.ok()) {
      return made.status().code() == ErrorCode::kFormat ? made.status() : bad(made.status().message());
    }
    NodePtr& known = by_fingerprint_[(*made)->fingerprint];
    if (known == nullptr || !datatype::equal_nodes(*known, **made)) {
      known = *made;
    }
    numbered_.push_back(known);
    return known;
  }

  Result<NodePtr> reference() {
    STRIA_ASSIGN_OR_RETURN(const int64_t number, natural());
    if (static_cast<size_t>(number) >= numbered_.size()) {
      return bad("it refers to a node that is not there");
    }
    return numbered_[static_cast<size_t>(number)];
  }

  Result<NodePtr> strided(int depth) {
    STRIA_ASSIGN_OR_RETURN(const int64_t count, natural());
    STRIA_ASSIGN_OR_RETURN(const int64_t stride, integer());
    STRIA_ASSIGN_OR_RETURN(NodePtr child, node(depth + 1));
    return datatype::make_strided(count, stride, std::move(child));
  }

  Result<NodePtr> blocks() {
    STRIA_ASSIGN_OR_RETURN(const size_t count, entry_count(2));
    std::vector<int64_t> displacements(count);
    std::vector<int64_t> lengths(count);
    int64_t displacement = 0;
    for (size_t i = 0; i < count; ++i) {
      STRIA_RETURN_IF_ERROR(step(i, displacement));
      displacements[i] = displacement;
      STRIA_ASSIGN_OR_RETURN(lengths[i], natural());
    }
    return unplaced(datatype::make_blocks({.displacements = displacements, .lengths = lengths}));
  }

  Result<NodePtr> uniform(int depth) {
    STRIA_ASSIGN_OR_RETURN(const size_t count, entry_count(1));
    std::vector<PlacedNode> entries(count);
    int64_t displacement = 0;
    for (size_t i = 0; i < count; ++i) {
      STRIA_RETURN_IF_ERROR(step(i, displacement));
      entries[i].displacement = displacement;
    }
    STRIA_ASSIGN_OR_RETURN(const NodePtr child, node(depth + 1));
    for (PlacedNode& entry : entries) {
      entry.node = child;
    }
    return unplaced(datatype::make_indexed(std::move(entries)));
  }

  Result<NodePtr> structure(int depth) {
    STRIA_ASSIGN_OR_RETURN(const size_t count, entry_count(2));
    std::vector<PlacedNode> entries(count);
    int64_t displacement = 0;
    for (size_t i = 0; i < count; ++i) {
      STRIA_RETURN_IF_ERROR(step(i, displacement));
      entries[i].displacement = displacement;
      STRIA_ASSIGN_OR_RETURN(entries[i].node, node(depth + 1));
    }
    return unplaced(datatype::make_indexed(std::move(entries)));
  }

  /// Returns the node of a tree whose displacement is 0; any other tree can't have been written,
  /// since its first entry would be empty.
  Result<NodePtr> unplaced(Result<PlacedNode> placed) {
    if (!placed.ok()) {
      return placed.status();
    }
    if (placed->displacement != 0) {
      return bad("its first entry is empty");
    }
    return std::move(placed->node);
  }

  std::span<const std::byte> in_;
  size_t position_ = 0;
  std::vector<NodePtr> numbered_;
  std::unordered_map<uint64_t, NodePtr> by_fingerprint_;
};

}  // namespace

void Datatype::serialize(std::vector<std::byte>& out) const {
  Writer writer(out);
  writer.byte(kVersion);
  writer.integer(displacement_);
  writer.integer(lower_bound_);
  writer.integer(upper_bound_);
  writer.node(*node_);
}

Result<Datatype> Datatype::deserialize(std::span<const std::byte> in, size_t* consumed_bytes) {
  Reader reader(in);
  STRIA_ASSIGN_OR_RETURN(const uint8_t version, reader.byte());
  if (version != kVersion) {
    return Status(ErrorCode::kFormat, "datatype description: version " + std::to_string(version) + " is not known");
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t displacement, reader.integer());
  STRIA_ASSIGN_OR_RETURN(const int64_t lower_bound, reader.integer());
  STRIA_ASSIGN_OR_RETURN(const int64_t upper_bound, reader.integer());
  STRIA_ASSIGN_OR_RETURN(NodePtr node, reader.node(1));
  Result<Datatype> type = create(std::move(node), displacement, lower_bound, upper_bound);
  if (!type.ok()) {
    return Status(ErrorCode::kFormat, type.status().message());
  }
  *consumed_bytes = reader.consumed_bytes();
  return type;
}

}  // namespace stria
