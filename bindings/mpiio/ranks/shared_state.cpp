#include "mpiio/ranks/shared_state.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <random>

namespace stria::mpiio {

namespace {

// How long a node looks for rank 0, and how long after another file's ranks have looked in vain.
constexpr std::chrono::milliseconds kPatience(3000);
constexpr std::chrono::milliseconds kLittlePatience(200);

}  // namespace

Result<std::shared_ptr<SharedState>> SharedState::create(Comm& comm) {
  const auto nodes = comm.node_of_rank();
  std::shared_ptr<SharedState> made(new SharedState);
  made->several_nodes_ = std::any_of(nodes.begin(), nodes.end(), [](int node) { return node != 0; });
  STRIA_RETURN_IF_ERROR(comm.agree(made->share_on_node(comm)));
  STRIA_RETURN_IF_ERROR(made->make_locks(comm));
  if (made->several_nodes_) {
    made->connect(comm);
  } else {
    STRIA_ASSIGN_OR_RETURN(made->meeting_, NodeMeeting::create(comm));
  }
  return made;
}

Status SharedState::share_on_node(Comm& comm) {
  const bool first = comm.node_rank() == 0;
  STRIA_ASSIGN_OR_RETURN(memory_, comm.allocate_shared(first ? static_cast<int64_t>(sizeof(Shared)) : 0));
  auto* shared = reinterpret_cast<Shared*>(memory_->part(0).data());
  if (first) {
    new (shared) Shared();
  }
  if (comm.node_of_rank()[static_cast<size_t>(comm.rank())] == 0) {
    pointers_ = shared->pointers;
  }
  board_ = std::make_unique<JobBoard>(shared->places, comm.node_size());
  return {};
}

Status SharedState::make_locks(Comm& comm) {
  auto locks = NodeLocks::create(comm);
  STRIA_RETURN_IF_ERROR(comm.agree(locks.status()));
  locks_ = std::move(*locks);
  return {};
}

// Every node finds out whether it can reach rank 0 before any rank relies on it. Collective: yes.
void SharedState::connect(Comm& comm) {
  static std::atomic<bool> has_failed{false};
  const auto nodes = comm.node_of_rank();
  const int node = comm.node_rank() == 0 ? nodes[static_cast<size_t>(comm.rank())] : -1;
  NodesPlace place;
  if (comm.rank() == 0) {
    const int node_count = *std::max_element(nodes.begin(), nodes.end()) + 1;
    place = NodesServer::instance().add(std::make_unique<NodesLedger>(pointers_, kTwins, node_count));
    token_ = place.token;
  }
  comm.broadcast(std::as_writable_bytes(std::span(&place, 1)), 0);
  if (pointers_ == nullptr) {
    client_ = std::make_unique<NodesClient>(place, comm.rank());
    reach_ = node < 0 ? Status() : client_->greet(has_failed ? kLittlePatience : kPatience);
  }
  reach_ = comm.agree(reach_);
  if (reach_.ok()) {
    nodes_ = std::make_unique<NodesBoard>(place, comm.rank(), node);
  } else {
    has_failed = true;
  }
}

void SharedState::forget_gathering_memory() {
  if (gathering_memory_ != nullptr) {
    gathering_memory_.reset();
    gathering_channels.fetch_sub(1);
  }
}

SharedState::~SharedState() {
  forget_gathering_memory();
  if (token_ != Token()) {
    NodesServer::instance().forget(token_);
  }
}

Result<int64_t> SharedState::advance(int64_t bytes) {
  if (pointers_ != nullptr) {
    return pointers_[current_].fetch_add(bytes);
  }
  STRIA_RETURN_IF_ERROR(reach_);
  const std::lock_guard lock(client_mutex_);
  return client_->ask(NodesMessage::Kind::kAdd, {current_, bytes}).values[0];
}

void SharedState::set(int64_t position) {
  pointers_[current_].store(position);
}

void SharedState::begin_on_node() {
  std::random_device random;
  locks_->begin_notes((uint64_t{random()} << 32) + random());
}

void SharedState::begin(int64_t position) {
  pointers_[current_].store(position);
  pointers_[1 - current_].store(0);
}

void SharedState::restart(bool is_first_rank) {
  const int left = current_;
  current_ = 1 - current_;
  if (is_first_rank) {
    pointers_[left].store(0);
  }
}

Result<std::shared_ptr<SharedBuffer>> SharedState::gathering_memory(Comm& comm, int64_t bytes) {
  if (gathering_memory_ == nullptr || gathering_bytes_ < bytes) {
    forget_gathering_memory();
    STRIA_ASSIGN_OR_RETURN(gathering_memory_, comm.allocate_shared(comm.node_rank() == 0 ? bytes : 0));
    gathering_bytes_ = bytes;
    gathering_channels.fetch_add(1);
  }
  return gathering_memory_;
}

NodeTurn* SharedState::atomic_turn(Comm& comm) {
  if (turn_ == nullptr && !several_nodes_) {
    auto made = NodeTurn::create(comm);
    if (comm.agree(made.status()).ok()) {
      turn_ = std::move(*made);
    }
  }
  return turn_.get();
}

}  // namespace stria::mpiio
