// Describes what verifying a whole file has found, on one rank or on all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stria/file.hpp"

namespace stria::file {

struct Findings {
  std::vector<Damage> damages;
  /// Rows that don't match their sums, because they were put more than once.
  std::vector<Damage> repeated;
  std::vector<int64_t> summed;  ///< datasets with at least one row that has a sum
  std::vector<std::string> remarks;
};

/// Notes damaged rows. They are joined with those before them if they follow each other.
void add_damage(std::vector<Damage>& found, const std::string& dataset, int64_t first_row, int64_t last_row);
/// Sorts damages and joins neighbours.
void tidy(std::vector<Damage>& damages);

std::vector<std::byte> encode_findings(const Findings& findings);
/// Adds the findings of a message.
void decode_findings(std::span<const std::byte> message, Findings& findings);

}  // namespace stria::file
