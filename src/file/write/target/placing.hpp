// Knows where a new file is written that is to be staged at a place of its own.
//
// Problem: a place where files are staged may be full. What is written there can't be taken back
// when the packed memory is gone.
// Method: before the first byte, rank 0 reserves room for all that the file can become. Where that
// fails, the file is written to its own place, as one that isn't staged.
// Cost: a broadcast, for files that are to be staged.
#pragma once

#include <cstdint>

#include "file/session/open_file.hpp"
#include "file/write/target/new_file.hpp"

namespace stria::file {

/// Agrees on the place of a file of at most `raw_bytes` of raw data, which awaits that. The file
/// then has what it can do where it is written, and which one it is. Collective: yes.
void agree_on_place(OpenFile& file, NewFile& target, int64_t raw_bytes);

}  // namespace stria::file
