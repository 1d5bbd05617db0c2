// Describes how the ranks of a node tell each other, without messages, how their parts of
// background collectives went.
//
// Problem: a nonblocking collective must fail on every rank when one can't write, but the thread
// that does it may not call MPI.
// Method: the n-th such operation of a file has a place in memory that the ranks share; each counts
// itself in when its part is done and leaves the class of its error; the operation is complete when
// all are counted. A place is used again when all ranks have looked. A rank that is further ahead
// keeps its outcomes until then (agreements.hpp). So any number of operations may be under way, and
// no rank waits to begin one.
// Cost: two atomic additions per operation.
#pragma once

#include <atomic>
#include <cstdint>

namespace stria::mpiio {

class JobBoard {
 public:
  static constexpr int kPlaces = 64;
  /// Holds what the ranks share; all zero at first.
  struct Place {
    std::atomic<int64_t> finished;
    std::atomic<int64_t> seen;
    std::atomic<int64_t> failure;
  };

  /// `places`: kPlaces of them, the same for all `rank_count` ranks.
  JobBoard(Place* places, int rank_count) : places_(places), rank_count_(rank_count) {}

  /// Returns the number of the next operation.
  int64_t begin() { return next_++; }
  /// Says that this rank's part is done; `error_class` is MPI_SUCCESS or its failure.
  /// Returns false, and does nothing, while ranks have not seen the outcome of the operation
  /// kPlaces before it.
  bool post(int64_t number, int error_class);
  /// True when every rank's part is done; then sets the class of a failure, MPI_SUCCESS without
  /// one. Not to be asked again after that. This rank has posted its part.
  bool complete(int64_t number, int& error_class);

 private:
  Place& place(int64_t number) const { return places_[number % kPlaces]; }

  Place* places_;
  int rank_count_;
  int64_t next_ = 0;
};

}  // namespace stria::mpiio
