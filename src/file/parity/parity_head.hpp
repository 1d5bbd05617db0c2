// Describes what a parity file says of itself, and where everything lies in it
// (docs/formats/parity.md).
//
// Problem: units that are wrong must be told from those that are right, whichever files are left.
// Method: the members of a set are stretches of files: the parts of a file in parts and the file
// that names them, or sixteen stretches of a file in one piece. Unit s of each member, and unit s
// of each parity, make stripe s. Every parity file has the sums of all units of each stripe, so
// that any one of them says what is wrong anywhere.
// Invariant: a parity file whose head can be read has all its records and units.
// Cost: for M members and K parities, K / M of the bytes, and 8 (M + K + 1) bytes a stripe in each
// parity file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "storage/driver.hpp"

namespace stria::file {

/// A stretch of a file.
struct ParityMember {
  std::string name;  ///< the name of the file, which lies beside the parity
  int64_t begin = 0;
  int64_t bytes = 0;
  bool operator==(const ParityMember&) const = default;
};

struct ParityHead {
  static constexpr int64_t kLargeUnitBytes = 64 << 10;
  static constexpr int64_t kSmallUnitBytes = 4 << 10;
  /// Where a parity file says that its file has its name.
  static constexpr int64_t kMarkOffset = 8;
  using Identity = std::array<std::byte, 16>;

  std::string file_name;  ///< the name of the file that is protected
  int64_t generation = 0;
  Identity identity{};  ///< by chance, the same in all parity files of a set
  int64_t unit_bytes = kLargeUnitBytes;
  int parities = 0;
  std::vector<ParityMember> members;

  bool operator==(const ParityHead&) const = default;
  int member_count() const { return static_cast<int>(members.size()); }
  int unit_count() const { return member_count() + parities; }
  /// Returns those of the longest member.
  int64_t longest_bytes() const;
  int64_t stripe_count() const { return (longest_bytes() + unit_bytes - 1) / unit_bytes; }
  /// Returns the bytes of unit `unit` of a stripe; data first, then parity.
  int64_t bytes_of(int64_t stripe, int unit) const;
  int64_t record_bytes() const { return 8 * (unit_count() + 1); }
  int64_t records_begin() const;
  int64_t units_begin() const;
  int64_t file_bytes() const { return units_begin() + longest_bytes(); }
  std::string parity_name(int number) const;

  /// Encodes the first bytes of parity file `number`, without the mark.
  std::vector<std::byte> encode(int number) const;
};

struct ReadHead {
  ParityHead head;
  int number = 0;
  bool is_committed = false;  ///< the file had got its name
};
/// Reads the bytes that ParityHead::encode() has made. kCorrupted or kFormat where they are damaged
/// or make no sense.
Result<ReadHead> decode_head(std::span<const std::byte> encoded, const std::string& path);
Result<ReadHead> read_head(storage::File& file);
/// Returns what is written at kMarkOffset once the file has its name.
std::array<std::byte, 8> mark_of(const ParityHead& head);

/// Returns the sums of a stripe's units, and one of these sums.
std::vector<uint64_t> sealed_record(std::vector<uint64_t> sums);
bool is_sound_record(const std::vector<uint64_t>& record);

/// Returns the members of a file in one piece.
std::vector<ParityMember> stretches_of(const std::string& name, int64_t file_bytes, int64_t unit_bytes);
int64_t unit_bytes_for(int64_t longest_bytes);

}  // namespace stria::file
