// Object headers read from the file itself, of either version, with all their blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/read/stored/storage_file.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// The places of a file. `base` is where its addresses begin.
struct MetadataSource {
  StorageFile& file;
  int64_t base = 0;
  int64_t address_bytes = 8;
  int64_t length_bytes = 8;
};

/// kCorrupted when the bytes don't lie in the file.
Result<std::vector<std::byte>> read_bytes(const MetadataSource& source, int64_t address, int64_t bytes);

/// kCorrupted when there is no header of a known version, or it makes no sense.
Result<ObjectMessages> read_object_header(const MetadataSource& source, int64_t address);

}  // namespace stria::container::h5
