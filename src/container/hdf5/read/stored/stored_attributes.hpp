// Attributes as the bytes of a file have them, in the header of their object or outside.
#pragma once

#include <cstdint>
#include <string>

#include "container/hdf5/read/stored/message_checks.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Reads the attribute of that name of the object whose header is at `address`. kNotFound;
/// kCorrupted; kUnsupported where it is shared with other objects, or too large for a heap's
/// blocks.
Result<StoredAttribute> read_stored_attribute(const MetadataSource& source, int64_t address, const std::string& name);

}  // namespace stria::container::h5
