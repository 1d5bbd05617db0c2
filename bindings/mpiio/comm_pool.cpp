#include "comm_pool.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <vector>

#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/mpi_request.hpp"
#include "comm/self/self_comm.hpp"

namespace stria::mpiio {

namespace {

constexpr size_t kMostAgreedOn = 62;  // channels of one communicator that fit the mask of free ones

struct Pool {
  std::vector<std::shared_ptr<Channel>> channels;
};

struct Pools {
  std::mutex mutex;
  std::list<Pool*> all;  // in the order of their making, the same on every rank
  int keyval = MPI_KEYVAL_INVALID;
  void (*close_files)() = nullptr;
};

// Never destroyed: MPI calls back late.
Pools& pools() {
  static Pools* instance = new Pools;
  return *instance;
}

int forget_pool(MPI_Comm, int, void* value, void*) {
  auto* pool = static_cast<Pool*>(value);
  {
    std::lock_guard lock(pools().mutex);
    pools().all.remove(pool);
  }
  delete pool;
  return MPI_SUCCESS;
}

int end_of_mpi(MPI_Comm, int, void*, void*) {
  if (pools().close_files != nullptr) {
    pools().close_files();
  }
  std::lock_guard lock(pools().mutex);
  for (Pool* pool : pools().all) {
    pool->channels.clear();
  }
  return MPI_SUCCESS;
}

int pool_key() {
  std::lock_guard lock(pools().mutex);
  if (pools().keyval == MPI_KEYVAL_INVALID) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_pool, &pools().keyval, nullptr);
    int end_key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_mpi, &end_key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, end_key, nullptr);
  }
  return pools().keyval;
}

Pool& pool_of(MPI_Comm parent) {
  const int key = pool_key();
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(parent, key, &value, &found);
  if (found != 0) {
    return *static_cast<Pool*>(value);
  }
  auto* made = new Pool;
  MPI_Comm_set_attr(parent, key, made);
  std::lock_guard lock(pools().mutex);
  pools().all.push_back(made);
  return *made;
}

int64_t free_mask(const Pool& pool) {
  int64_t mask = 0;
  for (size_t i = 0; i < std::min(pool.channels.size(), kMostAgreedOn); ++i) {
    mask |= pool.channels[i]->in_use ? 0 : int64_t{1} << i;
  }
  return mask;
}

Result<std::shared_ptr<Channel>> make_channel(MPI_Comm parent, int size) {
  auto channel = std::make_shared<Channel>();
  if (size == 1) {
    channel->comm = make_self_comm();
  } else {
    STRIA_ASSIGN_OR_RETURN(channel->comm, make_mpi_comm(parent));
  }
  STRIA_ASSIGN_OR_RETURN(channel->shared, SharedState::create(*channel->comm, parent));
  return channel;
}

}  // namespace

void at_mpi_end(void (*close_files)()) {
  pools().close_files = close_files;
}

Result<std::shared_ptr<Channel>> acquire_channel(MPI_Comm parent, Admission& admission) {
  Pool& pool = pool_of(parent);
  const int64_t amode = admission.amode;
  std::array<int64_t, 4> common{free_mask(pool), amode, ~amode, admission.valid ? -1 : 0};
  int size = 1;
  MPI_Comm_size(parent, &size);
  if (size > 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, common.data(), static_cast<int>(common.size()), MPI_INT64_T, MPI_BAND, parent, &request);
    wait_politely(request);
  }
  admission.same_amode = (common[1] | common[2]) == -1;
  admission.valid = common[3] == -1;
  if (common[0] != 0) {
    auto channel = pool.channels[static_cast<size_t>(__builtin_ctzll(static_cast<uint64_t>(common[0])))];
    channel->in_use = true;
    return channel;
  }
  STRIA_ASSIGN_OR_RETURN(std::shared_ptr<Channel> channel, make_channel(parent, size));
  channel->in_use = true;
  pool.channels.push_back(channel);
  return channel;
}

void release_channel(const std::shared_ptr<Channel>& channel) {
  channel->in_use = false;
}

}  // namespace stria::mpiio
