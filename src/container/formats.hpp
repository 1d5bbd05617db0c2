// The list of formats: the only place that knows them all.
#pragma once

#include <memory>

#include "container/container.hpp"

namespace stria::container {

/// HDF5.
const FileFormat& default_format();

/// Opens a file of any format, as FileFormat::open() does.
Result<std::unique_ptr<Reader>> open_file(storage::File& file);

}  // namespace stria::container
