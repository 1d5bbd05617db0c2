// Collective reads of HDF5 that each rank makes alone.
//
// Problem: Open MPI's own collective read (OMPIO 4.1) sends every byte through an aggregator, also
// where each rank wants one piece that no other has a part of. It then takes twice as long as a
// read by each rank, and more where ranks share cores.
// Method: ROMIO's: the ranks ask whether all want one large piece or nothing, and then read alone.
// HDF5 made the call collective, so that all ranks ask.
// Cost: a reduction of one number for each collective read.
#pragma once

#include <map>
#include <mutex>

#include "hdf5/defer/mpi.hpp"

namespace stria::hdf5 {

/// The MPI_Files that HDF5 has open by Open MPI's own MPI-IO, on more than one rank. Thread-safe.
class CollectiveReads {
 public:
  static CollectiveReads& all();
  void opened(const Mpi& mpi, MpiFile handle, MpiHandle comm);
  void viewed(MpiFile handle, MpiHandle type);
  void closed(MpiFile handle);
  /// Whether all ranks want one large piece or nothing. Collective over a file that is known; false
  /// for others.
  bool are_pieces(MpiFile handle, int count, MpiHandle type);

 private:
  struct Known {
    const Mpi* mpi = nullptr;
    MpiHandle comm = 0;
    bool is_one_piece = true;  ///< what the file shows here
  };

  std::mutex mutex_;
  std::map<MpiFile, Known> files_;
};

}  // namespace stria::hdf5
