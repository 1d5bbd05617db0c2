// Where a new file is written that is to be staged at a place of its own.
//
// Problem: a place where files are staged may be full. What is written there can't be taken back
// when the packed memory is gone.
// Method: before the first byte, rank 0 reserves room for all that the file can become. Where that
// fails, the file is written to its own place, as one that isn't staged.
// Cost: a broadcast, for files that are to be staged.
#pragma once

#include <string>

#include "access/failure/memory_reserve.hpp"
#include "file/session/file_identity.hpp"
#include "file/session/session.hpp"
#include "file/write/target/new_file.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// What the ranks agree about.
struct Placing {
  Environment& environment;  ///< gets the warnings
  const std::string& path;   ///< as the program gave it
  NewFile& file;
  access::MemoryReserve& reserve;
  storage::Capabilities& capabilities;  ///< become those of the place
  FileIdentity& identity;               ///< likewise
};

/// Agrees on the place of a file of at most `raw_bytes` of raw data. \pre file.awaits_place()
/// Collective: yes.
void agree_on_place(const Placing& placing, int64_t raw_bytes);

}  // namespace stria::file
