#include "file/parity/parity_code.hpp"

#include <isa-l/erasure_code.h>

#include <algorithm>

#include "base/check.hpp"

namespace stria::file {

namespace {

constexpr size_t kTableBytes = 32;  // ISA-L keeps them for each element of a matrix.

unsigned char** bytes_of(std::vector<std::byte*>& units) {
  return reinterpret_cast<unsigned char**>(units.data());
}

}  // namespace

ParityCode::ParityCode(int members, int parities) : members_(members), parities_(parities) {
  STRIA_CHECK(members >= 1 && parities >= 1 && members + parities <= kMostUnits, members, parities);
  matrix_.resize(static_cast<size_t>((members + parities) * members));
  gf_gen_cauchy1_matrix(matrix_.data(), members + parities, members);
  tables_.resize(static_cast<size_t>(members * parities) * kTableBytes);
  ec_init_tables(members, parities, matrix_.data() + static_cast<size_t>(members * members), tables_.data());
}

void ParityCode::encode(std::span<std::byte* const> data, std::span<std::byte* const> parity, int64_t bytes) const {
  STRIA_CHECK(data.size() == static_cast<size_t>(members_) && parity.size() == static_cast<size_t>(parities_), data.size(),
              parity.size(), members_, parities_);
  STRIA_CHECK(bytes >= 0 && bytes <= INT32_MAX, bytes);  // ISA-L counts in int
  std::vector<std::byte*> from(data.begin(), data.end());
  std::vector<std::byte*> to(parity.begin(), parity.end());
  ec_encode_data(static_cast<int>(bytes), members_, parities_, const_cast<unsigned char*>(tables_.data()), bytes_of(from),
                 bytes_of(to));
}

void ParityCode::multiply(Rows rows, std::span<std::byte* const> from, std::span<std::byte* const> to, int64_t bytes) const {
  STRIA_CHECK(rows.size() == to.size() * static_cast<size_t>(members_) && from.size() == static_cast<size_t>(members_),
              rows.size(), from.size(), to.size(), members_);
  STRIA_CHECK(bytes >= 0 && bytes <= INT32_MAX, bytes);
  Rows tables(rows.size() * kTableBytes);
  ec_init_tables(members_, static_cast<int>(to.size()), rows.data(), tables.data());
  std::vector<std::byte*> sources(from.begin(), from.end());
  std::vector<std::byte*> results(to.begin(), to.end());
  ec_encode_data(static_cast<int>(bytes), members_, static_cast<int>(to.size()), tables.data(), bytes_of(sources),
                 bytes_of(results));
}

bool ParityCode::restore(std::span<std::byte* const> units, const std::vector<bool>& is_lost, int64_t bytes) const {
  const auto m = static_cast<size_t>(members_);
  STRIA_CHECK(units.size() == m + static_cast<size_t>(parities_) && is_lost.size() == units.size(), units.size(),
              is_lost.size(), members_, parities_);
  std::vector<std::byte*> from;
  Rows square;
  for (size_t unit = 0; unit < units.size() && from.size() < m; ++unit) {
    if (!is_lost[unit]) {
      from.push_back(units[unit]);
      square.insert(square.end(), matrix_.begin() + static_cast<std::ptrdiff_t>(unit * m),
                    matrix_.begin() + static_cast<std::ptrdiff_t>((unit + 1) * m));
    }
  }
  Rows inverse(m * m);
  if (from.size() < m || gf_invert_matrix(square.data(), inverse.data(), members_) != 0) {
    return false;
  }
  // Data are the inverse times what is left; parity is its row of the matrix times that.
  std::vector<std::byte*> to;
  Rows rows;
  for (size_t unit = 0; unit < units.size(); ++unit) {
    for (size_t column = 0; is_lost[unit] && column < m; ++column) {
      unsigned char sum = 0;
      for (size_t k = 0; k < m; ++k) {
        sum = static_cast<unsigned char>(sum ^ gf_mul(matrix_[unit * m + k], inverse[k * m + column]));
      }
      rows.push_back(sum);
    }
    if (is_lost[unit]) {
      to.push_back(units[unit]);
    }
  }
  if (!to.empty()) {
    multiply(std::move(rows), from, to, bytes);
  }
  return true;
}

}  // namespace stria::file
