// The links of a large group: a B-tree over their names, which are in a heap.
//
// Problem: links in a group's header are searched one after another.
// Method: the B-tree of the format's first version, which every release reads. It is made at once
// from the sorted names, bottom up.
// Cost: about 60 bytes per link, and its name; a reader takes O(log links) steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/hdf5/write/image_space.hpp"

namespace stria::container::h5 {

struct Link {
  std::string name;
  int64_t header_address = 0;
};

/// Says where the tree and the heap begin.
struct SymbolTable {
  int64_t tree_address = 0;
  int64_t heap_address = 0;
};

/// Makes the heap, the leaves and the tree (format specification III.A.1, III.B, III.D).
Result<SymbolTable> make_symbol_table(std::vector<Link> links, ImageSpace& space);

}  // namespace stria::container::h5
