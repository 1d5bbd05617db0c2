// Puts a storage::File in the place of the file under libhdf5 (an H5FD class of ours), for reading.
#pragma once

#include "container/hdf5/read/library.hpp"
#include "container/hdf5/read/storage_file.hpp"

namespace stria::container::h5 {

/// Makes a file access property list that has libhdf5 open `file`, which must stay until the HDF5 file is closed. \pre in a
/// LibraryScope
Result<Id> make_access_list(StorageFile& file);

}  // namespace stria::container::h5
