// A file that is kept in several, made one.
#pragma once

#include <cstdint>
#include <string>

#include "stria/hints.hpp"

namespace stria::file {

struct Joined {
  int64_t part_count = 0;
  int64_t useful_bytes = 0;
  int64_t file_bytes = 0;
};

/// Writes what the file `from` and its parts hold as one plain file `to`, with the checksums of
/// what was read compared where there are any. When both are the same, the file replaces its
/// master, and the parts are removed. Throws stria::Error; until the file has its name, nothing
/// has changed. kInvalidArgument when `from` has no parts. Collective: no; one process calls it.
Joined join_file(const std::string& from, const std::string& to, const Hints& hints = {});

}  // namespace stria::file
