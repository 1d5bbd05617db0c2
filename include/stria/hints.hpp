// Tuning by name, as MPI_Info does it: ROMIO's names with their meaning, and our own with the prefix stria_. See docs/hints.md.
#pragma once

#include <map>
#include <string>

namespace stria {

/// Names and values as the user gives them. Nothing has to be set; what a name does and its default is in docs/hints.md. An unknown name
/// or an unusable value is reported by File::hint_warnings(), never ignored in silence.
using Hints = std::map<std::string, std::string>;

}  // namespace stria
