// A file written anew: one that is kept in several made one, or without the space that additions
// have left unused.
#pragma once

#include <cstdint>
#include <string>

#include "stria/hints.hpp"

namespace stria::file {

struct Rewritten {
  int64_t part_count = 0;
  int64_t old_bytes = 0;  ///< with its parts
  int64_t file_bytes = 0;
};

/// Writes what the file `from` and its parts hold as one plain file `to`, with the checksums of
/// what was read compared where there are any. When both are the same, the file replaces its
/// master, and the parts are removed. Throws stria::Error; until the file has its name, nothing
/// has changed. kInvalidArgument when `from` has no parts. Datasets in chunks are held in memory
/// until they are written, all others by 64 MB. Collective: no; one process calls it.
Rewritten join_file(const std::string& from, const std::string& to, const Hints& hints = {});
/// Makes an HDF5 file of what one without parts holds, without unused space. kAlreadyExists when
/// another program adds to the file that would be replaced; kUnsupported when it is netCDF or has
/// parts, or couldn't grow. Collective: no.
Rewritten compact_file(const std::string& from, const std::string& to, const Hints& hints = {});

}  // namespace stria::file
