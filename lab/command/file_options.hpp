// Options of subcommands that write files: their format and their compression.
#pragma once

#include <string>

#include "command.hpp"
#include "stria/format.hpp"

namespace stria::tool {

/// Adds the option --format of new files, and its value for a format.
void add_format(Command command, Format& format);
const char* format_name(Format format);

/// Adds --compress, by itself or as --compress=HOW. Not given: the text stays empty.
void add_compress(Command command, std::string& how);

}  // namespace stria::tool
