// The data access calls of MPI-IO behind one signature: by pointer, by collectivity and by
// way of waiting.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace mpiio {

enum class Pointer { kExplicit, kIndividual, kShared };
enum class Waiting { kBlocking, kNonblocking, kSplit };

/// One way to read and to write.
struct Call {
  Pointer pointer = Pointer::kExplicit;
  Waiting waiting = Waiting::kBlocking;
  bool collective = false;   ///< a shared pointer's is ordered
  bool large_count = false;  ///< the _c form of MPI 4
};

/// Says what is transferred; `offset` (in etypes) counts for explicit offsets only.
struct Transfer {
  MPI_Offset offset = 0;
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// Every data access call that the MPI has, as in the standard's table in the section
/// "Data Access".
std::vector<Call> all_calls();
/// Returns those with explicit offsets or individual pointers.
std::vector<Call> private_calls();

/// "write_at_all_begin/end" and so on.
std::string call_name(const Call& call, bool write);

/// Starts and completes one transfer, and returns the first error code. The status is that of the
/// completed operation.
int perform(const Call& call, bool write, MPI_File file, const Transfer& transfer, MPI_Status* status);

}  // namespace mpiio
