// Tuning by name, as with MPI_Info: ROMIO's names with their meaning, and Stria's own with the
// prefix stria_. See docs/hints.md.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stria {

/// Names and values as the user gives them. Nothing has to be set. docs/hints.md says what each
/// name does, and its default. File::hint_warnings() reports unknown names and values that
/// can't be used.
using Hints = std::map<std::string, std::string>;

/// Returns a sentence on each hint that is unknown or has a value that can't be used, for programs
/// that warn before they begin. Collective: no.
std::vector<std::string> hint_problems(const Hints& hints);

}  // namespace stria
