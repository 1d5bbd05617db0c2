#include "mpiio/file/messages.hpp"

#include <mpi.h>

#include <cstdio>
#include <mutex>
#include <set>

#include "mpiio/file/info.hpp"

namespace stria::mpiio {

bool speaks_for(Comm& comm) {
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  return is_verbose() && comm.rank() == 0 && (comm.size() > 1 || world_rank == 0);
}

void say(const std::string& sentence) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (said.insert(sentence).second) {
    std::fprintf(stderr, "stria: %s\n", sentence.c_str());
  }
}

void introduce() {
#if defined(OPEN_MPI)
  say("MPI-IO is done by libstria_mpiio " STRIA_VERSION " (Open MPI)");
#else
  say("MPI-IO is done by libstria_mpiio " STRIA_VERSION " (MPICH)");
#endif
}

}  // namespace stria::mpiio
