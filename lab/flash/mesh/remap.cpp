#include "mesh/remap.hpp"

#include <algorithm>

#include "mesh/transfer.hpp"

namespace stria::flash {
namespace {

class Remapper {
 public:
  Remapper(const BlockShape& shape, const VariableSet& variables)
      : shape_(shape), variables_(variables), coarse_(shape, variables.transferred_count(), 1) {
    for (const auto& variable : variables.transferred) {
      index_.push_back(variable.index);
    }
  }

  void copy(const double* from, double* to) const { std::copy(from, from + shape_.block_doubles(), to); }

  // Fills a child from the quarter (eighth) of its parent that it covers, and one parent cell
  // around for the slopes.
  void prolong_child(const double* parent, int child_number, double* child) {
    CellBox rimmed;
    std::array<int, 3> shift{};
    for (int d = 0; d < shape_.dim; ++d) {
      rimmed.lo[d] = -1;
      rimmed.hi[d] = coarse_.cells(d) + 1;
      shift[d] = (child_number >> d & 1) * coarse_.cells(d);
    }
    for_each_cell(rimmed, [&](int i, int j, int k) {
      load_conserved(variables_, parent + shape_.offset(i + shift[0], j + shift[1], k + shift[2]), index_.data(),
                     coarse_.cell(i, j, k));
    });
    CellBox interior{{0, 0, 0}, {coarse_.cells(0), coarse_.cells(1), coarse_.cells(2)}};
    for_each_cell(interior, [&](int i, int j, int k) { split_into(child, {i, j, k}); });
  }

  // Fills the part of a parent that one of its children covers.
  void restrict_child(const double* child, int child_number, double* parent) const {
    CellSource source{child + shape_.offset(0, 0, 0), {shape_.stride(0), shape_.stride(1), shape_.stride(2)}, index_.data()};
    CellBox interior{{0, 0, 0}, {coarse_.cells(0), coarse_.cells(1), coarse_.cells(2)}};
    std::array<int, 3> shift{};
    for (int d = 0; d < shape_.dim; ++d) {
      shift[d] = (child_number >> d & 1) * coarse_.cells(d);
    }
    for_each_cell(interior, [&](int i, int j, int k) {
      double conserved[kMaxTransferred];
      restrict_cell(variables_, source, shape_.dim, {2 * i, 2 * j, 2 * k}, conserved);
      store_conserved(variables_, conserved, parent + shape_.offset(i + shift[0], j + shift[1], k + shift[2]));
    });
  }

 private:
  void split_into(double* child, std::array<int, 3> at) const {
    ChildCells parts;
    prolong_cell(variables_, coarse_, shape_.dim, at, &parts);
    for (int part = 0; part < (1 << shape_.dim); ++part) {
      int k = shape_.dim == 3 ? 2 * at[2] + (part >> 2 & 1) : 0;
      double* cell = child + shape_.offset(2 * at[0] + (part & 1), 2 * at[1] + (part >> 1 & 1), k);
      for (std::size_t t = 0; t < index_.size(); ++t) {
        cell[index_[t]] = parts[part][t];
      }
    }
  }

  BlockShape shape_;
  const VariableSet& variables_;
  CoarseBuffer coarse_;
  std::vector<int> index_;
};

}  // namespace

Status remap(const BlockShape& shape, const VariableSet& variables, const LocalBlocks& from, const LocalBlocks& to) {
  Remapper remapper(shape, variables);
  const std::size_t children = std::size_t{1} << shape.dim;
  const int64_t doubles = shape.block_doubles();
  const Status broken(ErrorCode::kInternal, "a block changed by more than one refinement level at once");
  std::size_t o = 0;
  std::size_t n = 0;
  while (o < from.leaves.size() && n < to.leaves.size()) {
    const Leaf& old_leaf = from.leaves[o];
    const Leaf& new_leaf = to.leaves[n];
    double* old_block = from.unk + static_cast<int64_t>(o) * doubles;
    double* new_block = to.unk + static_cast<int64_t>(n) * doubles;
    if (old_leaf == new_leaf) {
      remapper.copy(old_block, new_block);
      ++o;
      ++n;
    } else if (n + children <= to.leaves.size() && new_leaf.level == old_leaf.level + 1) {
      for (std::size_t c = 0; c < children; ++c, ++n, new_block += doubles) {
        if (!(to.leaves[n].parent() == old_leaf)) {
          return broken;
        }
        remapper.prolong_child(old_block, to.leaves[n].child_number(), new_block);
      }
      ++o;
    } else if (o + children <= from.leaves.size() && old_leaf.level == new_leaf.level + 1) {
      for (std::size_t c = 0; c < children; ++c, ++o, old_block += doubles) {
        if (!(from.leaves[o].parent() == new_leaf)) {
          return broken;
        }
        remapper.restrict_child(old_block, from.leaves[o].child_number(), new_block);
      }
      ++n;
    } else {
      return broken;
    }
  }
  return o == from.leaves.size() && n == to.leaves.size() ? Status() : broken;
}

}  // namespace stria::flash
