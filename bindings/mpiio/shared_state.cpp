#include "shared_state.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string_view>

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
  if (one_node && !wants_window()) {
    auto memory = comm.allocate_shared(comm.node_rank() == 0 ? static_cast<int64_t>(sizeof(Shared)) : 0);
    // The outcome is the same on the node, which is everybody.
    STRIA_RETURN_IF_ERROR(memory.status());
    made->memory_ = *memory;
    auto* shared = reinterpret_cast<Shared*>(made->memory_->part(0).data());
    if (comm.rank() == 0) {
      new (shared) Shared();
    }
    made->pointers_ = shared->pointers;
    made->board_ = std::make_unique<JobBoard>(shared->places, comm.size());
    auto locks = NodeLocks::create(comm);
    STRIA_RETURN_IF_ERROR(comm.agree(locks.status()));
    made->locks_ = std::move(*locks);
    STRIA_ASSIGN_OR_RETURN(made->meeting_, NodeMeeting::create(comm));
    return made;
  }
  int64_t* base = nullptr;
  const MPI_Aint bytes = comm.rank() == 0 ? static_cast<MPI_Aint>(kTwins * sizeof(int64_t)) : 0;
  MPI_Win_allocate(bytes, sizeof(int64_t), MPI_INFO_NULL, parent, &base, &made->window_);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, made->window_);
  return made;
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
  if (turn_ == nullptr && memory_ != nullptr) {
    auto made = NodeTurn::create(comm);
    if (comm.agree(made.status()).ok()) {
      turn_ = std::move(*made);
    }
  }
  return turn_.get();
}

}  // namespace stria::mpiio
