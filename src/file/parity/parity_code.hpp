// The code by which lost units are made again: Reed–Solomon over GF(2^8), with a Cauchy matrix.
//
// Problem: of M units with data and K with parity, any K may be lost or wrong.
// Method: each unit of parity is a sum of all units of data, times a row of the matrix 1 / (i + j).
// Every square part of that matrix can be inverted, so any M units give all others. ISA-L does the
// arithmetic. (Plank and Xu, Optimizing Cauchy Reed-Solomon codes, NCA 2006.)
// Cost: K multiplications a byte of data to encode; M a byte that is made again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stria::file {

class ParityCode {
 public:
  /// Field elements number rows and columns of the matrix.
  static constexpr int kMostUnits = 255;

  /// \pre members >= 1, parities >= 1, members + parities <= kMostUnits
  ParityCode(int members, int parities);

  int members() const { return members_; }
  int parities() const { return parities_; }
  /// Makes the parity of one stripe. `data` are members() units of `bytes` bytes, `parity` are
  /// parities().
  void encode(std::span<std::byte* const> data, std::span<std::byte* const> parity, int64_t bytes) const;
  /// Makes the units that are lost again, from the others. `units`: first data, then parity.
  /// False, and nothing is changed, where more than parities() are lost.
  bool restore(std::span<std::byte* const> units, const std::vector<bool>& is_lost, int64_t bytes) const;

 private:
  using Rows = std::vector<unsigned char>;
  void multiply(Rows rows, std::span<std::byte* const> from, std::span<std::byte* const> to, int64_t bytes) const;

  int members_;
  int parities_;
  Rows matrix_;  // (members + parities) x members; the first rows are those of the identity
  Rows tables_;  // the tables of the rows of parity, as ISA-L wants them
};

}  // namespace stria::file
