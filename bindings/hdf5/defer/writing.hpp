// The writing of held bytes by one rank: pieces that follow each other in the file go in one write.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hdf5/defer/held_bytes.hpp"
#include "hdf5/defer/mpi.hpp"

namespace stria::hdf5 {

/// Writes bytes to a place of a file. Returns MPI's error, or an errno; 0 for none.
using WriteBytes = std::function<int(ByteRange place, const std::byte* bytes)>;

WriteBytes by_mpi(const Mpi& mpi, MpiFile handle);
WriteBytes by_descriptor(int descriptor, MpiFile handle);

struct Written {
  std::vector<Held> left;  ///< those that could not be written
  int error = 0;           ///< the first
};

/// `pieces` are in the order of the file.
Written write_pieces(std::span<const Held> pieces, const WriteBytes& write);

/// Returns a descriptor of the file of an MPI_File, for a thread that must not call MPI; -1 where
/// the name tells MPI more than a path, and where a file system (NFS) doesn't show at once to all
/// handles what one has written.
int open_beside_mpi(const std::string& name);

}  // namespace stria::hdf5
