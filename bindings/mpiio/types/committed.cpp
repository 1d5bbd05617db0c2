#include "mpiio/types/committed.hpp"

#include <mutex>

#include "base/check.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/types/type_contents.hpp"

namespace stria::mpiio {

namespace {

struct Asking {
  std::mutex mutex;
  MPI_Comm comm = MPI_COMM_NULL;  // null before the first question, and where none could be made
  bool tried = false;
};

// It is never destroyed: MPI ends late.
Asking& asking() {
  static Asking* instance = new Asking;
  return *instance;
}

// A duplicate would call the program's own functions for the attributes of MPI_COMM_SELF.
MPI_Comm comm_to_ask_on() {
  const std::lock_guard lock(asking().mutex);
  if (!asking().tried) {
    asking().tried = true;
    if (MPI_Comm_split(MPI_COMM_SELF, 0, 0, &asking().comm) == MPI_SUCCESS) {
      MPI_Comm_set_errhandler(asking().comm, MPI_ERRORS_RETURN);
    }
  }
  return asking().comm;
}

}  // namespace

bool is_committed(MPI_Datatype type) {
  STRIA_ASSERT(type != MPI_DATATYPE_NULL);
  if (is_basic(combiner_of(type))) {
    return true;
  }
  const MPI_Comm comm = comm_to_ask_on();
  if (comm == MPI_COMM_NULL) {
    return true;
  }
  char nothing = 0;
  int position = 0;
  const int code = STRIA_MPIIO_REAL(Pack)(&nothing, 0, type, &nothing, 1, &position, comm);
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) {
    MPI_Error_class(code, &error_class);
  }
  return error_class != MPI_ERR_TYPE;
}

void stop_asking_for_commits() {
  const std::lock_guard lock(asking().mutex);
  asking().tried = true;
  if (asking().comm != MPI_COMM_NULL) {
    MPI_Comm_free(&asking().comm);
  }
}

}  // namespace stria::mpiio
