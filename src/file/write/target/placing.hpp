// Knows where a new file is written that is to be staged at a place of its own.
//
// Problem: a place where files are staged may be full. What is written there can't be taken back
// when the packed memory is gone.
// Method: before the first byte, rank 0 reserves room for all that the file can become. Where that
// fails, the file is written to its own place, as one that isn't staged.
// Cost: a broadcast, for files that are to be staged.
#pragma once

#include <string>

#include "access/failure/memory_reserve.hpp"
#include "file/session/environment.hpp"
#include "file/write/target/new_file.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Says what the file can do where it is written, and which one it is; the same on every rank.
struct AgreedPlace {
  storage::Capabilities capabilities;
  storage::Identity identity;
};

/// Agrees on the place of a file of at most `raw_bytes` of raw data, which awaits that. `path` is
/// the name that the program knows; `environment` gets the warnings. Collective: yes.
AgreedPlace agree_on_place(const std::string& path, int64_t raw_bytes, NewFile& file, Environment& environment,
                           access::MemoryReserve& reserve);

}  // namespace stria::file
