// The command line as data, from which the man pages and the shells' completion are made.
#pragma once

#include <string>

#include "command_line.hpp"

namespace stria::tool {

/// The word that asks for it, alone on the command line.
inline constexpr const char* kDescribe = "--describe";

/// Returns the JSON of a command: `name`, `help`, its `options` as the parser has them, and the
/// `commands` below.
std::string described(const Command& command);

}  // namespace stria::tool
