// The help of the command, as a terminal shows it.
#pragma once

#include <string>

namespace stria::tool {

/// Returns the parser's help with lines of at most 80 columns. That of the program itself lists the
/// commands by task, and ends with examples and the place of the documents, where these are
/// installed.
std::string shown_help(const std::string& help);

}  // namespace stria::tool
