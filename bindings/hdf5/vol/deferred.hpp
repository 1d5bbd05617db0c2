// Writes that the connector holds back (STRIA_HDF5_DEFER), by the code of libstria_hdf5.
//
// Problem: the preload sees what HDF5 does with its MPI_File, and a connector doesn't.
// Method: every call that touches a file passes by the connector. Those that may see bytes of a
// dataset, or free them, write first what waits. The MPI_File and the dataset's place are the
// native connector's, which tells both; nothing is held above another.
// Limits: MPI has to be a shared library. Numbers that need a conversion don't wait, because a
// connector doesn't see what the program has changed of conversions.
#pragma once

#include <memory>

#include "hdf5/transfer/packed.hpp"
#include "hdf5/vol/object.hpp"

namespace stria::hdf5::vol {

/// Makes the questions of deferred writes go to the connector's objects. They stay unanswered where
/// HDF5 isn't one that can be served.
void take_deferring(const FindSymbol& symbols, Hdf5& hdf5);

/// A file that was created or opened through `access`, and may be written.
void begin_deferring(Object& file, const char* name, hid_t access);
/// An object's file is that of what it was made from, unless it lies in another (an external link,
/// a mounted file).
void note_file(Object& object, const std::shared_ptr<HeldFile>& file, H5I_type_t type);

/// These are called before a file is closed, or flushed. Collective. They return -1 where bytes
/// can't be written, which closing gives up.
herr_t end_deferring(const Object& file);
herr_t flush_held(const Object& object);

/// Must be called before anything that may look at bytes that this process holds.
void write_held();
/// Must be called before a call in which all ranks look at the file.
void write_held_together(const Object& object);
/// Must be called before HDF5 may use bytes of the file for something else, and before it becomes
/// atomic.
void hold_no_more(const Object& object);

/// Tells whether a write is held. Where it isn't, it is to be made by the transfer that `arguments`
/// then has; one that isn't the program's is to be closed.
bool hold_write(const Object& dataset, Arguments& arguments, const void* data);

}  // namespace stria::hdf5::vol
