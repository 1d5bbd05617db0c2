// Distributed arrays: a global array of which every rank holds a box, put or got in one call.
//
//   const stria::ArrayPart mine{.shape = {512, 256}, .start = {y, x}, .count = {ny, nx},
//                               .ghosts_before = {2, 2}, .ghosts_after = {2, 2}};
//   file.put("density", {rho.data(), mine});
//   file.commit();
//
// The file holds the global array as one dataset, whatever the number of ranks: another number
// reads it by the boxes that it has itself. The idea is that of Chameleon's I/O library (Galbreath,
// Gropp, Levine, Supercomputing '93).
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "stria/file.hpp"

namespace stria {

/// A rank's box of a global array, and how it lies in memory. All lists have an entry a dimension
/// of the array, in the order of its indices.
struct ArrayPart {
  std::vector<int64_t> shape;  ///< the shape of the global array; the same on all ranks
  std::vector<int64_t> start;  ///< the first element of the box
  std::vector<int64_t> count;  ///< count of its elements; with a zero among them this rank has none
  /// Layers in memory around the box, which are neither written nor read; empty: none.
  std::vector<int64_t> ghosts_before{};
  std::vector<int64_t> ghosts_after{};
  /// The order of memory. The dataset has the same: with kFortran its dimensions are those of
  /// `shape` reversed, as with every Fortran program that writes HDF5, and nothing is transposed.
  Order order = Order::kC;
};

/// The box with its elements. It refers to the memory, which must stay valid until commit() or
/// flush() returns, and must not change while it is to be written.
struct DistributedArray {
  /// `first` is the first element in memory: a ghost where there are ghosts.
  DistributedArray(const void* first, ElementType type, ArrayPart box)
      : part(std::move(box)), data(const_cast<void*>(first)), element(type) {}
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  DistributedArray(const T* numbers, ArrayPart box) : DistributedArray(numbers, element_type_of<T>(), std::move(box)) {}

  /// Says what is wrong with the box, if anything: lists of unequal length, a negative size, a box
  /// that leaves the array, no memory.
  Status check() const;
  /// Returns the shape of the dataset. \pre check().ok()
  std::vector<int64_t> dims() const;
  /// Returns the box in the dataset. \pre check().ok()
  Hyperslab slab() const;
  /// Returns the box in memory, in the dataset's order. \pre check().ok()
  Memory memory() const;

  ArrayPart part;
  void* data;
  ElementType element;
};

}  // namespace stria
