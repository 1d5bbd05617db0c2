#include "job_board.hpp"

#include <mpi.h>

#include "comm/pause.hpp"

namespace stria::mpiio {

namespace {

constexpr int kClassBits = 16;  // error classes are small numbers

}  // namespace

int64_t JobBoard::begin(const std::function<void()>& meanwhile) {
  const int64_t number = next_++;
  const int64_t uses_before = number / kPlaces;
  for (int attempt = 0; place(number).seen.load() < uses_before * rank_count_; ++attempt) {
    meanwhile();
    polite_pause(attempt);
  }
  return number;
}

void JobBoard::post(int64_t number, int error_class) {
  Place& mine = place(number);
  if (error_class != MPI_SUCCESS) {
    // The first failure of this operation stays; one of an earlier operation goes.
    const int64_t failure = (number + 1) << kClassBits | error_class;
    int64_t before = mine.failure.load();
    while (before >> kClassBits < number + 1 && !mine.failure.compare_exchange_weak(before, failure)) {
    }
  }
  mine.finished.fetch_add(1);
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
