// A number for each cell of a block, with layers of ghost cells around that repeat its neighbours'.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "grid/grid.hpp"

namespace stria::convection {

class Field {
 public:
  Field(const Grid& grid, int64_t ghosts)
      : ghosts_(ghosts), stride_(grid.mx + 2 * ghosts), numbers_(static_cast<size_t>(stride_ * (grid.mz + 2 * ghosts))) {}

  /// Returns row `j` and column `i` of the block; from -ghosts() to the block's size plus ghosts()
  /// - 1.
  double& operator()(int64_t j, int64_t i) { return numbers_[static_cast<size_t>((j + ghosts_) * stride_ + i + ghosts_)]; }
  double operator()(int64_t j, int64_t i) const { return numbers_[static_cast<size_t>((j + ghosts_) * stride_ + i + ghosts_)]; }
  int64_t ghosts() const { return ghosts_; }
  double* data() { return numbers_.data(); }
  const double* data() const { return numbers_.data(); }
  void clear() { numbers_.assign(numbers_.size(), 0.0); }

 private:
  int64_t ghosts_;
  int64_t stride_;
  std::vector<double> numbers_;
};

/// Fills the ghosts from the neighbours, all but the corners. Behind walls they stay as they are.
/// \pre all fields have as many ghosts. Collective: yes.
void exchange(const Grid& grid, std::initializer_list<Field*> fields);

}  // namespace stria::convection
