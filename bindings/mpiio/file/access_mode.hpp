// Describes what a file is opened for: the amode of MPI_File_open.
#pragma once

#include <mpi.h>

#include "mpiio/mpi/outcome.hpp"
#include "storage/driver.hpp"

namespace stria::mpiio {

class AccessMode {
 public:
  explicit AccessMode(int bits) : bits_(bits) {}
  /// MPI_ERR_AMODE for bits that don't go together.
  Outcome check() const;

  /// Returns the bits that the program gave.
  int bits() const { return bits_; }
  bool is_readable() const { return !has(MPI_MODE_WRONLY); }
  bool is_writable() const { return !has(MPI_MODE_RDONLY); }
  bool is_sequential() const { return has(MPI_MODE_SEQUENTIAL); }
  bool appends() const { return has(MPI_MODE_APPEND); }
  bool creates() const { return has(MPI_MODE_CREATE); }
  bool must_create() const { return creates() && has(MPI_MODE_EXCL); }
  bool deletes_on_close() const { return has(MPI_MODE_DELETE_ON_CLOSE); }
  /// Returns what the storage must allow for this file. Data sieving also reads a file that is only
  /// written.
  storage::OpenOptions::Mode storage_mode() const;

 private:
  bool has(int bit) const { return (bits_ & bit) != 0; }

  int bits_;
};

}  // namespace stria::mpiio
