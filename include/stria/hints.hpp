// Tuning by name, as MPI_Info does it: ROMIO's names with their meaning, and our own with the prefix stria_. See docs/hints.md.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace stria {

/// Names and values as the user gives them. Nothing has to be set; what a name does and its default is in docs/hints.md. An
/// unknown name or an unusable value is reported by File::hint_warnings(), never ignored in silence.
using Hints = std::map<std::string, std::string>;

/// Says, a sentence each, which hints are unknown or have a value that can't be used: for programs that warn before they begin.
/// Local.
std::vector<std::string> hint_problems(const Hints& hints);

}  // namespace stria
