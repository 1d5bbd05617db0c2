// H5Dwrite that holds its bytes back (files.hpp).
//
// Held are numbers, in datasets in one piece that have their place in the file, of files that
// parallel HDF5 has open for writing. All else goes as it would without deferring.
#pragma once

#include "hdf5/transfer/packed.hpp"

namespace stria::hdf5 {

enum class Deferred {
  kNo,     ///< the call goes on to HDF5 as it comes
  kHeld,   ///< done
  kAlone,  ///< to be made by an independent transfer: the other ranks don't wait for this one
};

/// Looks whether a write can be held back, and holds it.
Deferred defer_write(const Library& library, const Arguments& arguments, const void* data);

/// Writes what is held, unless this handle's own calls do so, before a read that HDF5 may make of
/// another handle of a file.
void write_before_read(const Library& library, hid_t dataset);

/// Writes what is held before all ranks copy an object of a file, which each reads.
void write_before_copy(const Library& library, hid_t place);

/// Writes what is held before an object goes at `place`, a file, group or other object: HDF5 may
/// use its bytes for others. From now on nothing is held of this file.
void write_before_removal(const Library& library, hid_t place);

/// Returns a copy of the transfer's list that makes it independent; to be closed.
hid_t independent_copy(const Library& library, hid_t transfer);

}  // namespace stria::hdf5
