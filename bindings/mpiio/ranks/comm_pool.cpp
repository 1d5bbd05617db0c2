#include "mpiio/ranks/comm_pool.hpp"

#include <array>
#include <atomic>
#include <list>
#include <mutex>
#include <vector>

#include "access/plan/aggregators.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/parking.hpp"
#include "comm/mpi/wait_watch.hpp"
#include "comm/self/self_comm.hpp"
#include "comm/trace/traced_comm.hpp"
#include "mpiio/types/committed.hpp"

namespace stria::mpiio {

namespace {

// Channels that are kept per communicator: as many as a mask has bits.
constexpr size_t kPlaces = 62;

// Every rank has the same channel in the same place.
struct Pool {
  struct Place {
    std::shared_ptr<Channel> channel;
    bool taken = false;  // by an open that is under way, or by an open file
  };
  std::array<Place, kPlaces> places;
};

struct Pools {
  std::mutex mutex;
  std::list<Pool*> all;  // in the order of their making, the same on every rank
  int keyval = MPI_KEYVAL_INVALID;
  std::atomic<void (*)()> close_files{nullptr};
  bool watches_end = false;
};

// They are never destroyed: MPI calls back late.
Pools& pools() {
  static Pools* instance = new Pools;
  return *instance;
}

int forget_pool(MPI_Comm, int, void* value, void*) {
  auto* pool = static_cast<Pool*>(value);
  {
    std::lock_guard lock(pools().mutex);
    pools().all.remove(pool);
    for (Pool::Place& place : pool->places) {
      if (place.channel != nullptr) {
        place.channel->taken = nullptr;  // an open file may still hold it
      }
    }
  }
  delete pool;
  return MPI_SUCCESS;
}

int end_of_mpi(MPI_Comm, int, void*, void*) {
  if (void (*close_files)() = pools().close_files.load(); close_files != nullptr) {
    close_files();
  }
  {
    std::lock_guard lock(pools().mutex);
    for (Pool* pool : pools().all) {
      for (Pool::Place& place : pool->places) {
        place.channel.reset();
      }
    }
  }
  stop_asking_for_commits();
  free_all_parked();
  return MPI_SUCCESS;
}

int pool_key() {
  watch_mpi_end();
  std::lock_guard lock(pools().mutex);
  if (pools().keyval == MPI_KEYVAL_INVALID) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_pool, &pools().keyval, nullptr);
  }
  return pools().keyval;
}

// Libraries duplicate the world's communicator for each file; all of its duplicates share one pool.
MPI_Comm home_of(MPI_Comm parent) {
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(parent, MPI_COMM_WORLD, &result);
  return result == MPI_CONGRUENT ? MPI_COMM_WORLD : parent;
}

Pool& pool_of(MPI_Comm parent) {
  const int key = pool_key();
  parent = home_of(parent);
  static std::mutex mutex;
  std::lock_guard one_thread(mutex);
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

struct Taken {
  int64_t channels = 0;  // places with a channel, as bits
  int64_t empty = 0;     // places without
};

// Takes every place that is free until the ranks have agreed on one, so that another thread's open
// can't have it meanwhile.
Taken take_all_free(Pool& pool) {
  std::lock_guard lock(pools().mutex);
  Taken taken;
  for (size_t i = 0; i < kPlaces; ++i) {
    Pool::Place& place = pool.places[i];
    if (!place.taken) {
      place.taken = true;
      (place.channel != nullptr ? taken.channels : taken.empty) |= int64_t{1} << i;
    }
  }
  return taken;
}

void give_back(Pool& pool, int64_t mask) {
  std::lock_guard lock(pools().mutex);
  for (size_t i = 0; i < kPlaces; ++i) {
    if ((mask >> i & 1) != 0) {
      pool.places[i].taken = false;
    }
  }
}

int64_t lowest_bit(int64_t mask) {
  return mask & -mask;
}

// Returns the name of this host in cb_config_list.
std::string own_host() {
  char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return std::string(name, static_cast<size_t>(length));
}

Result<std::shared_ptr<Channel>> make_channel(MPI_Comm parent, int size) {
  auto channel = std::make_shared<Channel>();
  if (size == 1) {
    channel->comm = make_traced_comm(make_self_comm());
  } else {
    STRIA_ASSIGN_OR_RETURN(std::unique_ptr<Comm> comm, make_mpi_comm(parent));
    channel->comm = make_traced_comm(std::move(comm));
  }
  channel->node_hosts = access::hosts_of_nodes(*channel->comm, own_host());
  STRIA_ASSIGN_OR_RETURN(channel->shared, SharedState::create(*channel->comm));
  return channel;
}

}  // namespace

void watch_mpi_end() {
  std::lock_guard lock(pools().mutex);
  if (!pools().watches_end) {
    pools().watches_end = true;
    int end_key = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_mpi, &end_key, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, end_key, nullptr);
  }
}

void at_mpi_end(void (*close_files)()) {
  pools().close_files = close_files;
}

Result<std::shared_ptr<Channel>> acquire_channel(MPI_Comm parent, Admission& admission) {
  Pool& pool = pool_of(parent);
  const int64_t amode = admission.amode;
  const Taken taken = take_all_free(pool);
  const auto name = static_cast<int64_t>(admission.name_hash);
  std::array<int64_t, 7> common{taken.channels, taken.empty, amode, ~amode, admission.valid ? -1 : 0, name, ~name};
  int size = 1;
  MPI_Comm_size(parent, &size);
  if (size > 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, common.data(), static_cast<int>(common.size()), MPI_INT64_T, MPI_BAND, parent, &request);
    wait_for_all(parent, request);
  }
  admission.same_amode = (common[2] | common[3]) == -1;
  admission.valid = common[4] == -1;
  admission.same_name = (common[5] | common[6]) == -1;
  const int64_t chosen = common[0] != 0 ? lowest_bit(common[0]) : lowest_bit(common[1]);
  give_back(pool, (taken.channels | taken.empty) & ~chosen);
  if (chosen == 0) {
    // The channel of this file is not kept, because so many are open.
    return make_channel(parent, size);
  }
  Pool::Place& place = pool.places[static_cast<size_t>(__builtin_ctzll(static_cast<uint64_t>(chosen)))];
  if (place.channel == nullptr) {
    auto made = make_channel(parent, size);
    if (!made.ok()) {
      give_back(pool, chosen);
      return made.status();
    }
    place.channel = *made;
    place.channel->taken = &place.taken;
  }
  return place.channel;
}

void release_channel(const std::shared_ptr<Channel>& channel) {
  std::lock_guard lock(pools().mutex);
  if (channel->taken != nullptr) {
    *channel->taken = false;
  }
}

}  // namespace stria::mpiio
