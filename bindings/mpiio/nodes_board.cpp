#include "nodes_board.hpp"

#include <algorithm>
#include <atomic>

#include "real_mpi.hpp"

namespace stria::mpiio {

namespace {

constexpr int kBits = 16;  // of an error class, and of the number of failures, which may wrap
constexpr int64_t kMask = (int64_t{1} << kBits) - 1;
constexpr int kWords = sizeof(NodesBoard::Exposed) / sizeof(int64_t);

}  // namespace

int64_t NodesBoard::pack(int64_t operations, int64_t failures) {
  return operations << kBits | (failures & kMask);
}

int64_t NodesBoard::operations_of(int64_t progress) {
  return progress >> kBits;
}

int64_t NodesBoard::failures_of(int64_t progress) {
  return progress & kMask;
}

NodesBoard::NodesBoard(MPI_Win window, MPI_Aint first_word, Exposed* own, const std::vector<int>& leaders)
    : window_(window), first_word_(first_word), own_(own), nodes_(leaders.size()) {
  for (size_t i = 0; i < leaders.size(); ++i) {
    nodes_[i].leader = leaders[i];
  }
}

void NodesBoard::publish(int64_t number, int error_class) {
  if (own_ == nullptr) {
    return;
  }
  if (error_class != MPI_SUCCESS) {
    const int64_t failure = (number + 1) << kBits | error_class;
    std::atomic_ref(own_->failures[own_failures_++ % kFailures]).store(failure);
  }
  ahead_.insert(number);
  while (!ahead_.empty() && *ahead_.begin() == own_operations_) {
    ahead_.erase(ahead_.begin());
    ++own_operations_;
  }
  std::atomic_ref(own_->progress).store(pack(own_operations_, own_failures_));  // last: who sees it finds the failures
}

bool NodesBoard::complete(int64_t number, int& error_class) {
  bool done = true;
  for (Node& node : nodes_) {
    look_at(node, number);
    done = done && operations_of(node.progress) > number;
  }
  if (!done) {
    return false;
  }
  error_class = MPI_SUCCESS;
  for (Node& node : nodes_) {
    if (const auto failure = node.failures.find(number); failure != node.failures.end()) {
      error_class = error_class == MPI_SUCCESS ? failure->second : error_class;
      node.failures.erase(failure);
    }
  }
  return true;
}

// The progress of a node counts only when its failures are known.
void NodesBoard::look_at(Node& node, int64_t number) {
  if (node.request != MPI_REQUEST_NULL) {
    int arrived = 0;
    STRIA_MPIIO_REAL(Test)(&node.request, &arrived, MPI_STATUS_IGNORE);
    if (arrived == 0) {
      return;
    }
    if (node.fetches_failures) {
      take_failures(node);
    } else if (failures_of(node.fetched.progress) != failures_of(node.progress)) {
      node.fetches_failures = true;
      MPI_Rget(node.fetched.failures, kFailures, MPI_INT64_T, node.leader, first_word_ + kWords - kFailures, kFailures,
               MPI_INT64_T, window_, &node.request);
      return;
    }
    node.progress = node.fetched.progress;
  }
  if (operations_of(node.progress) <= number) {
    MPI_Rget(&node.fetched.progress, 1, MPI_INT64_T, node.leader, first_word_, 1, MPI_INT64_T, window_, &node.request);
  }
}

// Where there were more than are kept, any operation that was finished since may be one that failed.
void NodesBoard::take_failures(Node& node) {
  node.fetches_failures = false;
  const int64_t news = (failures_of(node.fetched.progress) - failures_of(node.progress)) & kMask;
  for (int64_t number = operations_of(node.progress); news > kFailures && number < operations_of(node.fetched.progress);
       ++number) {
    node.failures[number] = MPI_ERR_IO;
  }
  for (const int64_t failure : node.fetched.failures) {
    const int64_t number = (failure >> kBits) - 1;
    if (number >= operations_of(node.progress)) {
      node.failures[number] = static_cast<int>(failure & kMask);
    }
  }
}

}  // namespace stria::mpiio
