#include "container/formats.hpp"

#include "container/hdf5/hdf5_format.hpp"

namespace stria::container {

const FileFormat& default_format() {
  static const Hdf5Format format;
  return format;
}

// There is only one format so far, and its reader says best what is wrong with a file.
Result<std::unique_ptr<Reader>> open_file(storage::File& file) {
  return default_format().open(file);
}

}  // namespace stria::container
