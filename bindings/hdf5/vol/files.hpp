// Files: the only objects that don't come from another one. What they need is in their access list.
#pragma once

#include "hdf5/vol/object.hpp"

namespace stria::hdf5::vol {

void* create_file(const char* name, unsigned flags, hid_t creation, hid_t access, hid_t transfer, void** request);
void* open_file(const char* name, unsigned flags, hid_t access, hid_t transfer, void** request);
/// Flushes and reopens files, and asks for or removes those that aren't open.
herr_t ask_file(void* file, H5VL_file_specific_args_t* arguments, hid_t transfer, void** request);
herr_t ask_file_natively(void* file, H5VL_optional_args_t* arguments, hid_t transfer, void** request);
herr_t close_file(void* given, hid_t transfer, void** request);

}  // namespace stria::hdf5::vol
