// Knows where the values of a rank's memory go in a dataset, one by one: what is behind
// stria::Elements.
//
// Problem: unstructured meshes and particles are numbered in any order, while a file region must
// have increasing offsets.
// Method: places are sorted once, digit by digit, with the positions of their values. What is
// sorted becomes two lists of runs: of the file, and of memory in the order of the file. Datatypes
// of them are made once for each size of an element, and shared by all datasets.
// Cost: linear in the number of values.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "stria/datatype.hpp"
#include "stria/status.hpp"

namespace stria::file {

class ElementMap {
 public:
  /// Throws std::bad_alloc. kInvalidArgument as Elements::Elements().
  static Result<std::unique_ptr<const ElementMap>> create(std::span<const int64_t> offsets);

  /// Returns the number of values in memory.
  int64_t count() const { return count_; }
  /// Returns the number of elements up to the last that is meant; 0 when there is none.
  int64_t end() const { return end_; }
  /// Returns the bytes of a dataset with elements of `width_bytes`, and those of memory in the same
  /// order. Any thread may ask.
  Result<Datatype> region(int64_t width_bytes) const { return type_of(places_, width_bytes); }
  Result<Datatype> memory(int64_t width_bytes) const { return type_of(positions_, width_bytes); }

 private:
  /// Runs of consecutive elements, and their datatypes by the size of an element: 1, 2, 4, 8 bytes.
  struct Runs {
    std::vector<int64_t> starts, lengths;
    mutable std::array<std::optional<Datatype>, 4> types;

    void add(int64_t at);
  };

  ElementMap() = default;
  Result<Datatype> type_of(const Runs& runs, int64_t width_bytes) const;

  int64_t count_ = 0;
  int64_t end_ = 0;
  Runs places_;
  Runs positions_;
  mutable std::mutex mutex_;  // the mutex of the types
};

}  // namespace stria::file
