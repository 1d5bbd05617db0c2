// Knows where the bytes of one file lie that is kept in several: a master, and parts beside it.
//
// Problem: the layers above move bytes between memory and one file.
// Method: an address space holds all of it. Low addresses are the master's own offsets. From
// kFirstAddress on lie arrays, each in one piece, whose rows are divided evenly among the parts.
// Cost: an address is found in O(log arrays); an array takes 8 bytes for each part.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::storage {

/// Returns the rows of an array that part number `part` of `part_count` has: the first ones get one
/// more where they can't be divided evenly.
ByteRange rows_of_part(int64_t row_count, int part_count, int part);

/// An array in the address space.
struct PartedArray {
  int64_t address = 0;
  int64_t row_count = 0;
  int64_t row_bytes = 0;
  std::vector<int64_t> offsets;  ///< the offsets of its rows in each part; -1 where it has none

  int64_t end() const { return address + row_count * row_bytes; }
};

/// A stretch of the address space that lies in one file.
struct PartedStretch {
  static constexpr int kMaster = -1;
  static constexpr int kGap = -2;  ///< between two arrays, where nothing is kept
  int part = kMaster;
  int64_t offset = 0;  ///< in that file
  int64_t bytes = 0;
};

struct PartMap {
  static constexpr int64_t kFirstAddress = int64_t{1} << 56;

  struct Part {
    std::string path;         ///< the storage's name; it may be a link that leads to the part
    int64_t least_bytes = 0;  ///< what the finished part has at least
    uint64_t number = 0;      ///< Identity::number of one that was just made, where it is known
    /// Where the finished part has its mark; -1: nowhere, as in files of older versions.
    int64_t mark_offset = -1;
    std::string real_path{};  ///< where one that was just made lies, if that is elsewhere
  };
  /// What the parts of one file have, and those of no other: so many bytes, then the part's number.
  static constexpr int64_t kIdentityBytes = 16;
  using Identity = std::array<std::byte, kIdentityBytes>;
  static constexpr int64_t kMarkBytes = kIdentityBytes + 8;
  using Mark = std::array<std::byte, kMarkBytes>;
  Identity identity{};
  Mark mark_of(int part) const;
  /// Returns where a part is to be opened that was just made.
  static const std::string& made_path(const Part& part) { return part.real_path.empty() ? part.path : part.real_path; }
  std::vector<Part> parts;
  std::vector<PartedArray> arrays;  ///< by increasing address; they don't overlap

  /// The parts have at least so many bytes.
  int64_t bytes_of_parts() const;
  int part_count() const { return static_cast<int>(parts.size()); }
  /// Returns the stretch that begins at `address`, and has at most `bytes` bytes; of 0 bytes before
  /// the first array and behind the last. \pre bytes > 0
  PartedStretch stretch_at(int64_t address, int64_t bytes) const;
};

}  // namespace stria::storage
