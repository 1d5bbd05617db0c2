// H5Dwrite and H5Dread as the connector gets them: memory that is scattered is packed, by the same
// code as in libstria_hdf5, before the connector below sees it.
#pragma once

#include "hdf5/vol/object.hpp"

namespace stria::hdf5::vol {

/// Makes the packing of memory ask for datasets as id_of names them.
void take_datasets(Library& core);

/// Returns the transfer's list of the call in which this thread is. What HDF5 is asked meanwhile
/// has to have it too: for the rest of the call, HDF5 keeps the list that it gets last.
hid_t current_transfer();

herr_t write_datasets(size_t count, void* datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer,
                      const void* data[], void** request);
herr_t read_datasets(size_t count, void* datasets[], hid_t types[], hid_t memory_spaces[], hid_t file_spaces[], hid_t transfer,
                     void* data[], void** request);

}  // namespace stria::hdf5::vol
