#include "comm/end_of_mpi.hpp"

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/check.hpp"

namespace stria {

namespace {

// How long the launcher gets to forward what a rank says before it ends the job.
constexpr std::chrono::milliseconds kTimeToForward(300);

struct Ending {
  std::mutex mutex;
  std::array<void (*)(), 3> calls{};
  bool hooked = false;
};

// Never destroyed, because MPI calls back late.
Ending& ending() {
  static Ending* instance = new Ending;
  return *instance;
}

int run_stages(MPI_Comm, int, void*, void*) {
  for (size_t stage = 0; stage < ending().calls.size(); ++stage) {
    void (*call)() = nullptr;
    {
      const std::lock_guard lock(ending().mutex);
      call = ending().calls[stage];
    }
    if (call != nullptr) {
      call();
    }
  }
  return MPI_SUCCESS;
}

}  // namespace

void at_end_of_mpi(MpiEnd stage, void (*call)()) {
  STRIA_ASSERT(is_mpi_running());
  const std::lock_guard lock(ending().mutex);
  ending().calls[static_cast<size_t>(stage)] = call;
  if (!ending().hooked) {
    ending().hooked = true;
    int key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, run_stages, &key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  }
}

void abort_job(int code) {
  std::fflush(nullptr);
  std::this_thread::sleep_for(kTimeToForward);
  MPI_Abort(MPI_COMM_WORLD, code);
  _exit(EXIT_FAILURE);
}

bool is_mpi_running() {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

}  // namespace stria
