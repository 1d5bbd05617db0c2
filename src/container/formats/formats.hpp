// The list of formats: the only place that knows them all.
#pragma once

#include <memory>
#include <string>

#include "container/container.hpp"
#include "stria/format.hpp"

namespace stria::container {

/// Returns HDF5.
const FileFormat& default_format();

/// Returns the format of a new file at `path`.
const FileFormat& format_of(Format wanted, const std::string& path);

/// Opens a file of any format, as FileFormat::open() does.
Result<std::unique_ptr<Reader>> open_file(storage::File& file);

/// Tells whether the file begins as one of a format does, at its first byte.
Result<bool> is_container(storage::File& file);

}  // namespace stria::container
