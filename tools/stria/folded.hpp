// Lines of a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace stria::tool {

inline constexpr size_t kColumns = 80;

/// Returns a line, with its end, in lines of at most 80 columns; those behind the first begin at
/// `column`. A word that is wider than that stays whole.
std::string folded(const std::string& line, size_t column);

/// Returns the same for each line of a text; what is folded begins two columns behind the line's
/// own beginning.
std::string folded_lines(const std::string& text);

}  // namespace stria::tool
