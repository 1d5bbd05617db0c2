// Describes what the mesh must know about the variables that it carries: their names, and how they
// behave when cells are merged or split.
#pragma once

#include <string>
#include <vector>

namespace stria::flash {

inline constexpr int kMaxTransferred = 16;

/// A variable that guard-cell filling, refinement and coarsening carry over from one
/// block to another.
struct TransferredVariable {
  int index = 0;  ///< the variable's place in unk
  /// A quantity per unit mass (velocity, specific energy): averaged with the density as weight.
  bool per_mass = false;
  int normal_to = -1;  ///< dimension whose reflecting walls flip its sign; -1 for none
};

/// The variables of unk. Those that are not transferred are derived: the physics recomputes them
/// after every transfer.
struct VariableSet {
  std::vector<std::string> names;  ///< four letters each, in the order of unk

  /// There are some, at most kMaxTransferred. The first one is the density when any other is
  /// per_mass.
  std::vector<TransferredVariable> transferred;

  /// Tells whether the transferred values of a cell are a physical state; null when anything goes.
  /// Where interpolation would make an unphysical cell, the mesh falls back to a constant, which
  /// conserves as well.
  bool (*admissible)(const double* transferred_values) = nullptr;

  int count() const { return static_cast<int>(names.size()); }
  int transferred_count() const { return static_cast<int>(transferred.size()); }
};

}  // namespace stria::flash
