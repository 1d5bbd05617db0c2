// Lets libhdf5 read a storage::File, by an H5FD class.
#pragma once

#include "container/hdf5/read/driver/metadata_guard.hpp"
#include "container/hdf5/read/libhdf5/library.hpp"
#include "container/hdf5/read/stored/storage_file.hpp"

namespace stria::container::h5 {

/// Makes a file access property list that makes libhdf5 open `file`, of which it only sees what
/// `guard` lets pass. All three must live until the HDF5 file is closed: the list holds the
/// driver's class. The caller is in a LibraryScope.
Result<Id> make_access_list(StorageFile& file, MetadataGuard& guard);

/// Returns where the metadata are of the file of an object, or of an attribute, that was opened so;
/// null where it was not.
const MetadataSource* source_of(hid_t object);

}  // namespace stria::container::h5
