// The superblock of a file (format specification II): where everything else begins.
#pragma once

#include <cstdint>
#include <optional>

#include "container/hdf5/read/stored/decoder.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Holds what the entry of a group in its parent, or of the root group in the superblock, keeps.
struct CachedGroup {
  int64_t tree_address = 0;
  int64_t heap_address = 0;
};

struct Superblock {
  int64_t base = 0;  ///< where it lies, and where addresses begin
  int64_t address_bytes = 8;
  int64_t length_bytes = 8;
  int64_t symbols_max = 8;            ///< in a node of a group's symbols
  int64_t group_children_max = 32;    ///< the most in a node of a group's tree
  std::optional<CachedGroup> root{};  ///< the root of old files
  int64_t extension = -1;             ///< the address of a header; of new files
};

/// kFormat where there is none, or one of an unknown version.
Result<Superblock> read_superblock(StorageFile& file);

/// Decodes an address; -1 where all its bits are set, which is none.
int64_t decode_address(Decoder& decoder, int64_t address_bytes);

}  // namespace stria::container::h5
