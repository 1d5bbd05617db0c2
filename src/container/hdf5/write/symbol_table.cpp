#include "container/hdf5/write/symbol_table.hpp"

#include <algorithm>
#include <span>

#include "base/byte_range.hpp"
#include "container/hdf5/form/format.hpp"

namespace stria::container::h5 {

namespace {

// The sizes that the format prescribes where the superblock gives none: leaves of 2 * 4 links,
// nodes of 2 * 16 children.
constexpr size_t kLeafLinks = 8;
constexpr int64_t kLinkBytes = 40;
constexpr int64_t kLeafBytes = 8 + static_cast<int64_t>(kLeafLinks) * kLinkBytes;
constexpr size_t kNodeChildren = 32;
constexpr int64_t kNodeBytes = 32 + static_cast<int64_t>(kNodeChildren) * 16;
constexpr int64_t kNodeAlignment = 8;

/// A node or leaf whose place is known.
struct GroupChild {
  int64_t address = 0;
  int64_t last_name = 0;  ///< place in the heap of its greatest name
};

struct Heap {
  int64_t address = 0;
  std::vector<int64_t> names;  ///< place in the heap of each link's name
};

// Makes a local heap: the empty name, then the names of the links, each at a multiple of 8 as the
// format requires. It has no free space.
Result<Heap> make_heap(std::span<const Link> links, ImageSpace& space) {
  constexpr int64_t kNothingFree = 1;
  Heap heap;
  Encoder names;
  names.zeros(8);
  for (const Link& link : links) {
    heap.names.push_back(static_cast<int64_t>(names.size()));
    names.text(link.name).zeros(8 - link.name.size() % 8);
  }
  STRIA_ASSIGN_OR_RETURN(const int64_t data, space.place(names.view(), kNodeAlignment));
  Encoder head;
  head.text("HEAP").zeros(4).number(static_cast<int64_t>(names.size()), 8).number(kNothingFree, 8).number(data, 8);
  STRIA_ASSIGN_OR_RETURN(heap.address, space.place(head.view(), kNodeAlignment));
  return heap;
}

Result<std::vector<GroupChild>> make_leaves(std::span<const Link> links, std::span<const int64_t> names, ImageSpace& space) {
  std::vector<GroupChild> leaves;
  for (size_t first = 0; first < links.size(); first += kLeafLinks) {
    const size_t last = std::min(first + kLeafLinks, links.size());
    Encoder leaf;
    leaf.text("SNOD").number(1, 1).zeros(1).number(static_cast<int64_t>(last - first), 2);
    for (size_t i = first; i < last; ++i) {
      leaf.number(names[i], 8).number(links[i].header_address, 8).zeros(kLinkBytes - 16);
    }
    STRIA_ASSIGN_OR_RETURN(const int64_t address, space.reserve(kLeafBytes, kNodeAlignment));
    space.write(address, leaf.view());
    leaves.push_back({address, names[last - 1]});
  }
  return leaves;
}

// Makes one level of nodes over those `below`. Names stand before, between and after the children,
// and divide them.
Result<std::vector<GroupChild>> make_nodes(std::span<const GroupChild> below, int level, ImageSpace& space) {
  std::vector<GroupChild> nodes;
  for (size_t first = 0; first < below.size(); first += kNodeChildren) {
    STRIA_ASSIGN_OR_RETURN(const int64_t address, space.reserve(kNodeBytes, kNodeAlignment));
    nodes.push_back({address, below[std::min(first + kNodeChildren, below.size()) - 1].last_name});
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto children = below.subspan(i * kNodeChildren, std::min(kNodeChildren, below.size() - i * kNodeChildren));
    Encoder node;
    node.text("TREE").number(0, 1).number(level, 1).number(static_cast<int64_t>(children.size()), 2);
    node.number(i > 0 ? nodes[i - 1].address : kNowhere, 8).number(i + 1 < nodes.size() ? nodes[i + 1].address : kNowhere, 8);
    node.number(i > 0 ? nodes[i - 1].last_name : 0, 8);
    for (const GroupChild& child : children) {
      node.number(child.address, 8).number(child.last_name, 8);
    }
    space.write(nodes[i].address, node.view());
  }
  return nodes;
}

}  // namespace

Result<SymbolTable> make_symbol_table(std::vector<Link> links, ImageSpace& space) {
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.name < b.name; });
  STRIA_ASSIGN_OR_RETURN(const Heap heap, make_heap(links, space));
  STRIA_ASSIGN_OR_RETURN(std::vector<GroupChild> row, make_leaves(links, heap.names, space));
  int level = 0;
  do {
    STRIA_ASSIGN_OR_RETURN(row, make_nodes(row, level++, space));
  } while (row.size() > 1);
  return SymbolTable{row[0].address, heap.address};
}

}  // namespace stria::container::h5
