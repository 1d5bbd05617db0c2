// The MPI_Files that HDF5 has open on more than one rank, and which of their transfers each rank
// makes alone.
//
// Problem: Open MPI's own collective transfers (OMPIO 4.1) send every byte through an aggregator,
// also where each rank moves one piece that no other has a part of. They then take twice as long as
// transfers by each rank, and more where ranks share cores. On tmpfs, ranks that write one file
// wait for the lock of its inode.
// Method: ROMIO's for the first: the ranks ask whether all move one large piece or nothing, and
// then move it alone. HDF5 made the call collective, so that all ranks ask. For the second, large
// pieces are inserted as pages, by a descriptor of each rank (page_file.hpp).
// Invariant: whether collective transfers of a file are looked at is the same on all its ranks.
// Cost: a reduction of one number for each open, and for each collective transfer of such a file.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "hdf5/defer/mpi.hpp"
#include "hdf5/shared/page_file.hpp"

namespace stria::hdf5 {

/// Says what moves in one MPI call.
struct MpiTransfer {
  MpiFile handle = nullptr;
  MpiOffset offset = 0;
  int count = 0;
  MpiHandle type = 0;
};

/// This is thread-safe.
class SharedFiles {
 public:
  static SharedFiles& all();
  /// Collective over `comm`, after HDF5 has opened the file on all its ranks.
  void opened(const Mpi& mpi, MpiFile handle, MpiHandle comm, const std::string& name, int mode);
  void viewed(MpiFile handle, MpiOffset begin, MpiHandle type);
  void closed(MpiFile handle);

  /// Tells whether each rank makes this collective transfer alone: all move one large piece or
  /// nothing. Collective over a file that is known; false for others.
  bool are_pieces(const MpiTransfer& transfer, bool is_write);

  /// Writes one piece of memory as pages. False where MPI has to write it.
  bool write_pages(const MpiTransfer& transfer, const void* data, void* status);
  /// Does the same for bytes of the file, whatever it shows.
  bool write_pages(MpiFile handle, ByteRange place, const std::byte* bytes);
  /// Tells whether all ranks write large pieces of the file as pages. The same on all of them.
  bool has_pages(MpiFile handle);

 private:
  struct Known {
    const Mpi* mpi = nullptr;
    MpiHandle comm = 0;
    bool moves_alone = false;         ///< Open MPI's own
    std::shared_ptr<PageFile> pages;  ///< null, or not null, on all ranks
    // What the file shows here.
    bool is_one_piece = true;
    MpiOffset begin = 0;
    int64_t bytes = std::numeric_limits<int64_t>::max();  ///< the bytes of the piece
  };

  std::optional<Known> find(MpiFile handle);

  std::mutex mutex_;
  std::map<MpiFile, Known> files_;
};

}  // namespace stria::hdf5
