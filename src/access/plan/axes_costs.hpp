// Describes what it costs to bring contributions to aggregators straight, and along one axis of a
// grid of nodes at a time (together/axes/by_axes.hpp).
//
// Problem: where a node's ranks have bytes for most aggregators, as when blocks of an array are
// dealt to the nodes in turn, every node speaks to every other in each round. Along the axes of a
// grid it speaks to those of its row and of its column only, but the bytes travel twice.
// Method: both are counted in bytes that could travel meanwhile. A message counts as few of them as
// on a slow network, where it costs least beside bytes, and the axes must win by a quarter.
// Cost: O(log aggregators).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stria::access {

/// A request, as the node with the most of each sees it.
struct AxesShape {
  /// A grid has 2, 4, 8, … rows: so many choices.
  static constexpr size_t kChoices = 12;

  bool write = true;
  int64_t ranks = 1;
  int64_t nodes = 1;
  int64_t aggregators = 1;
  int64_t met = 0;    ///< aggregators for which a node has bytes
  int64_t bytes = 0;  ///< the bytes of a node
  int64_t description_bytes = 0;
  int64_t rounds = 1;
  std::array<int64_t, kChoices> columns = {};  ///< in which the met ones lie, by choice
};

/// Returns the rows of a grid by choice.
constexpr int rows_of_choice(size_t choice) {
  return 2 << choice;
}

/// Returns the columns of a grid of so many rows.
constexpr int64_t columns_of_grid(int64_t aggregators, int rows) {
  return (aggregators + rows - 1) / rows;
}

int64_t straight_cost_bytes(const AxesShape& shape);
int64_t axes_cost_bytes(const AxesShape& shape, size_t choice);

/// Returns the rows of the grid that costs least; 0 where contributions go straight for less, or
/// where a node would have to hold too much at once.
int rows_that_pay(const AxesShape& shape);

/// Returns the shape before anything is known of the nodes: each meets all aggregators, and has as
/// much as any other. No request of so many bytes gains more from a grid.
AxesShape most_scattered(bool write, int64_t ranks, int64_t nodes, int64_t aggregators, int64_t total_bytes);

}  // namespace stria::access
