#include "shared_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>
#include <vector>

#include "base/byte_range.hpp"

namespace stria::mpiio {

namespace {

// For tests: what ranks of several nodes do, on one.
bool wants_window() {
  const char* value = std::getenv("STRIA_SHARED_POINTER");
  return value != nullptr && std::string_view(value) == "window";
}

}  // namespace

Result<std::shared_ptr<SharedState>> SharedState::create(Comm& comm, MPI_Comm parent) {
  const auto nodes = comm.node_of_rank();
  const bool one_node = std::all_of(nodes.begin(), nodes.end(), [](int node) { return node == 0; });
  std::shared_ptr<SharedState> made(new SharedState);
  STRIA_RETURN_IF_ERROR(comm.agree(made->share_on_node(comm)));
  if (one_node && !wants_window()) {
    made->pointers_ = reinterpret_cast<Shared*>(made->memory_->part(0).data())->pointers;
    auto locks = NodeLocks::create(comm);
    STRIA_RETURN_IF_ERROR(comm.agree(locks.status()));
    made->locks_ = std::move(*locks);
    STRIA_ASSIGN_OR_RETURN(made->meeting_, NodeMeeting::create(comm));
    return made;
  }
  made->expose(comm, parent);
  return made;
}

Status SharedState::share_on_node(Comm& comm) {
  const bool first = comm.node_rank() == 0;
  STRIA_ASSIGN_OR_RETURN(memory_, comm.allocate_shared(first ? static_cast<int64_t>(sizeof(Shared)) : 0));
  auto* shared = reinterpret_cast<Shared*>(memory_->part(0).data());
  if (first) {
    new (shared) Shared();
  }
  board_ = std::make_unique<JobBoard>(shared->places, comm.node_size());
  return {};
}

void SharedState::expose(Comm& comm, MPI_Comm parent) {
  const auto nodes = comm.node_of_rank();
  std::vector<int> leaders;  // of the other nodes
  for (int rank = 0, seen = 0; rank < comm.size(); ++rank) {
    const int node = nodes[static_cast<size_t>(rank)];
    if (node == seen) {  // nodes are numbered in the order of their first ranks
      ++seen;
      if (node != nodes[static_cast<size_t>(comm.rank())]) {
        leaders.push_back(rank);
      }
    }
  }
  const bool first = comm.node_rank() == 0;
  Exposed* exposed = nullptr;
  // MPICH 4.0 reads beside the memory of a rank whose neighbour on the machine has an odd size.
  const MPI_Aint bytes = align_up(sizeof(Exposed), 64);
  MPI_Win_allocate(first ? bytes : 0, sizeof(int64_t), MPI_INFO_NULL, parent, &exposed, &window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  if (first) {
    new (exposed) Exposed();
  }
  MPI_Win_sync(window_);
  nodes_ = std::make_unique<NodesBoard>(window_, kTwins, first ? &exposed->board : nullptr, leaders);
}

SharedState::~SharedState() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (window_ != MPI_WIN_NULL && finalized == 0) {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
}

int64_t SharedState::advance(int64_t bytes) {
  if (pointers_ != nullptr) {
    return pointers_[current_].fetch_add(bytes);
  }
  int64_t before = 0;
  MPI_Fetch_and_op(&bytes, &before, MPI_INT64_T, 0, current_, MPI_SUM, window_);
  MPI_Win_flush(0, window_);
  return before;
}

void SharedState::set(int64_t position) {
  set(current_, position);
}

void SharedState::set(int twin, int64_t position) {
  if (pointers_ != nullptr) {
    pointers_[twin].store(position);
    return;
  }
  int64_t before = 0;
  MPI_Fetch_and_op(&position, &before, MPI_INT64_T, 0, twin, MPI_REPLACE, window_);
  MPI_Win_flush(0, window_);
}

void SharedState::begin(int64_t position) {
  set(current_, position);
  set(1 - current_, 0);
}

void SharedState::restart(bool is_first_rank) {
  const int left = current_;
  current_ = 1 - current_;
  if (is_first_rank) {
    set(left, 0);
  }
}

NodeTurn* SharedState::atomic_turn(Comm& comm) {
  if (turn_ == nullptr && pointers_ != nullptr) {
    auto made = NodeTurn::create(comm);
    if (comm.agree(made.status()).ok()) {
      turn_ = std::move(*made);
    }
  }
  return turn_.get();
}

}  // namespace stria::mpiio
