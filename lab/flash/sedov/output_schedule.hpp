// When the next file is due: after so many steps, after so many seconds, or both.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace stria::flash {

class OutputSchedule {
 public:
  /// \param every_steps 0: not by steps \param every_seconds of wall-clock time since the last
  /// file; 0: not by time
  OutputSchedule(int64_t every_steps, double every_seconds)
      : every_steps_(every_steps), every_seconds_(every_seconds), last_seconds_(MPI_Wtime()) {}

  /// Tells whether a file is due after `step` steps, and restarts the clock if so. The same on
  /// every rank, because rank 0's clock decides. Collective: yes.
  bool due(MPI_Comm comm, int64_t step) {
    int is_due = every_steps_ > 0 && step % every_steps_ == 0 ? 1 : 0;
    if (every_seconds_ > 0 && is_due == 0) {
      is_due = MPI_Wtime() - last_seconds_ >= every_seconds_ ? 1 : 0;
      MPI_Bcast(&is_due, 1, MPI_INT, 0, comm);
    }
    if (is_due != 0) {
      last_seconds_ = MPI_Wtime();
    }
    return is_due != 0;
  }

 private:
  int64_t every_steps_;
  double every_seconds_;
  double last_seconds_;
};

}  // namespace stria::flash
