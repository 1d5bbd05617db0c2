// Describes what a rank does in a benchmark, whatever the interface: arrays in a file, and parts of
// them in memory.
//
// Every byte of an array has a value that follows from its place (value.hpp). So any reader knows
// what must be there.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "workload/selection.hpp"

namespace stria::bench {

/// An array of the file. In a plain file the arrays lie one after another; in a self-describing one
/// each is a dataset.
struct Array {
  std::string name;
  std::vector<int64_t> dims;
  int64_t element_bytes = 1;
  /// Values repeat after so many bytes, as dumps from the same memory do; 0: never.
  int64_t period_bytes = 0;
  int values_like = -1;  ///< the values are those of the array with this number; -1: its own

  int64_t bytes() const { return product(dims) * element_bytes; }
};

/// Elements of one array and the memory that holds them, in the same order.
struct Part {
  size_t array = 0;  ///< in Workload::arrays
  Selection file;    ///< the file of that array
  Selection memory;  ///< the same elements in an array in memory, which begins at memory_bytes
  int64_t memory_bytes = 0;
};

/// Parts that a program hands over at once. In a plain file they lie in the order of
/// their first bytes.
struct Call {
  std::vector<Part> parts;
};

/// All of one rank.
struct Workload {
  std::vector<Array> arrays;  ///< the same on every rank, except where each has a file of its own
  std::vector<Call> calls;
  int64_t memory_bytes = 0;     ///< the bytes of the buffer of this rank, gaps included
  bool is_file_a_rank = false;  ///< each rank has a file of its own
  bool overlaps = false;        ///< ranks share elements
  int files = 1;                ///< so many files are made, and later opened, one after the other
  /// All calls have the shape of the first one, and each lies further along the first dimension of
  /// the array by its number, as dumps do.
  bool repeats = false;

  /// Bytes that this rank moves.
  int64_t useful_bytes() const;
  /// Returns where an array begins in a plain file.
  int64_t place(size_t array) const;
};

/// A stretch that is contiguous in memory and in a plain file.
struct Piece {
  int64_t memory_bytes;  ///< offset in the buffer
  int64_t file_bytes;    ///< offset in the array
  int64_t bytes;
};

/// Calls `take` with the pieces of a part in the part's order. Neighbours that touch in memory and
/// in the file are one piece.
void for_each_piece(const Workload& workload, const Part& part, const std::function<void(const Piece&)>& take);

/// Calls `take` with the stretches that a part has in its array, in their order, as
/// (offset, bytes).
void for_each_stretch(const Workload& workload, const Part& part, const std::function<void(int64_t, int64_t)>& take);

/// Holds what the methods of noncontiguous access need for a rank's calls (Ching 2002).
struct RequestCounts {
  int64_t multiple = 0;  ///< one for each stretch that is contiguous in memory and in the file
  int64_t list = 0;      ///< lists of so many stretches of the file
  int64_t sieving = 0;   ///< windows of so many bytes, from a call's first byte to its last
};
/// PVFS's list was as long as an Ethernet packet had room for; the sieving buffer is
/// that of the paper.
struct RequestLimits {
  int64_t list_regions = 64;
  int64_t sieve_bytes = 32 << 20;
};
RequestCounts count_requests(const Workload& workload, const RequestLimits& limits = {});

}  // namespace stria::bench
