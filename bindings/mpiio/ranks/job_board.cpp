#include "mpiio/ranks/job_board.hpp"

#include <mpi.h>

#include "base/check.hpp"

namespace stria::mpiio {

namespace {

constexpr int kClassBits = 16;  // error classes are small numbers

}  // namespace

bool JobBoard::post(int64_t number, int error_class) {
  STRIA_ASSERT(number >= 0 && 0 <= error_class && error_class < 1 << kClassBits, number, error_class);
  Place& mine = place(number);
  if (mine.seen.load() < number / kPlaces * rank_count_) {
    return false;
  }
  if (error_class != MPI_SUCCESS) {
    // The first failure of this operation stays; one of an earlier operation is replaced.
    const int64_t failure = (number + 1) << kClassBits | error_class;
    int64_t before = mine.failure.load();
    while (before >> kClassBits < number + 1 && !mine.failure.compare_exchange_weak(before, failure)) {
    }
  }
  const int64_t before = mine.finished.fetch_add(1);
  STRIA_CHECK(before < (number / kPlaces + 1) * rank_count_, number, before, rank_count_);
  return true;
}

bool JobBoard::complete(int64_t number, int& error_class) {
  Place& shared = place(number);
  if (shared.finished.load() < (number / kPlaces + 1) * rank_count_) {
    return false;
  }
  const int64_t failure = shared.failure.load();
  const bool failed = failure >> kClassBits == number + 1;
  error_class = failed ? static_cast<int>(failure & ((1 << kClassBits) - 1)) : MPI_SUCCESS;
  shared.seen.fetch_add(1);
  return true;
}

}  // namespace stria::mpiio
