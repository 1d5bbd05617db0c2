#include "container/formats.hpp"

#include "container/hdf5/hdf5_format.hpp"

namespace stria::container {

const FileFormat& default_format() {
  static const Hdf5Format format;
  return format;
}

// One format so far: whatever the file is, its reader says best what is wrong with it.
Result<std::unique_ptr<Reader>> open_file(storage::File& file) {
  return default_format().open(file);
}

}  // namespace stria::container
