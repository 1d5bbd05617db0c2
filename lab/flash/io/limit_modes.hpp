// Describes what the machine can do at best: the same bytes without any library.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/modes.hpp"

namespace stria::flash {

/// Writes with plain system calls.
std::unique_ptr<IoMode> make_limit_mode(IoArrays& arrays, LimitWay way, std::string name, std::string path);
/// Packs these variables as floats in one pass, and writes them.
std::unique_ptr<IoMode> make_plot_limit_mode(IoArrays& arrays, std::vector<int64_t> variables, std::string path);
/// Writes a file once, and reads it with plain system calls.
std::unique_ptr<IoMode> make_limit_read_mode(IoArrays& arrays, std::string path);
/// Packs everything in one pass into memory that is mapped already, and writes nothing.
std::unique_ptr<IoMode> make_pack_mode(IoArrays& arrays);

}  // namespace stria::flash
