// The communicators that open files use, kept with the program's.
//
// Problem: each open file needs a communicator of its own, and duplicating one costs several
// collectives, more than small programs spend on their I/O.
// Method: the communicators of closed files wait for the next open, as an attribute of the
// program's communicator. In the reduction that opening needs anyway, the ranks agree on one that
// is free on all of them. Duplicates of MPI_COMM_WORLD, which libraries make for each file, share
// its channels. They are freed with the program's communicator, or when MPI ends.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "access/together/kept.hpp"
#include "comm/comm.hpp"
#include "mpiio/ranks/shared_state.hpp"

namespace stria::mpiio {

/// Holds what one open file holds while it is open.
struct Channel {
  std::shared_ptr<Comm> comm;
  std::shared_ptr<SharedState> shared;
  std::vector<uint64_t> node_hosts;  ///< for ResolvedHints::node_hosts
  access::Kept kept;                 ///< what collective operations keep; the next file uses it too
  bool* taken = nullptr;             ///< the pool's mark; null: not of a pool
};

/// Holds what each rank brings to an open, and what follows for all.
struct Admission {
  bool valid = false;  ///< this rank's arguments are; then: those of all ranks
  int amode = 0;
  bool same_amode = false;
  uint64_t name_hash = 0;  ///< the hash of the file's name
  bool same_name = false;
};

/// Returns a channel for a file opened on `parent`, an intracommunicator. The outcome is the same
/// on every rank. Collective: yes.
Result<std::shared_ptr<Channel>> acquire_channel(MPI_Comm parent, Admission& admission);
/// Gives a channel back. Local.
void release_channel(const std::shared_ptr<Channel>& channel);

/// Makes MPI report its end, by an attribute of MPI_COMM_SELF. To be called when MPI begins: the
/// attribute set last is deleted first, and libraries above (HDF5, PnetCDF) close their files when
/// their own attributes are deleted. Only the first call counts.
void watch_mpi_end();
/// Calls `close_files` when MPI ends, while it can still communicate; set once.
void at_mpi_end(void (*close_files)());

}  // namespace stria::mpiio
