// Lets libhdf5 read a storage::File, by an H5FD class.
#pragma once

#include "container/hdf5/read/library.hpp"
#include "container/hdf5/read/storage_file.hpp"

namespace stria::container::h5 {

/// Makes a file access property list that makes libhdf5 open `file`, which must live until the HDF5
/// file is closed. \pre in a LibraryScope
Result<Id> make_access_list(StorageFile& file);

}  // namespace stria::container::h5
