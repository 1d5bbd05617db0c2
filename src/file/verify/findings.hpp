// What a check of a whole file has found, on one rank or on all.
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
  std::vector<int64_t> summed;  ///< datasets of whose rows at least one has a sum
  std::vector<std::string> remarks;
};

/// Notes rows as damaged; together with those before them where they follow each other.
void add_damage(std::vector<Damage>& found, const std::string& dataset, int64_t first_row, int64_t last_row);
/// Puts damages in order, neighbours as one.
void tidy(std::vector<Damage>& damages);

std::vector<std::byte> encode_findings(const Findings& findings);
/// Adds those of a message to those that are there.
void decode_findings(std::span<const std::byte> message, Findings& findings);

}  // namespace stria::file
