// Describes what was meant by a mistyped command or option.
#pragma once

#include <string>

#include "command_line.hpp"

namespace stria::tool {

/// Says, after a failed parse, which word is no command or option, and what was probably meant.
/// Empty when all words are known, so that the parser's own message says more.
std::string unknown_word(const Command& app);

}  // namespace stria::tool
