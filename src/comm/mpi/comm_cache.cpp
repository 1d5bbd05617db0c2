// Keeps one communicator of the library with each of the application's.
//
// Problem: duplicating a communicator and finding the nodes takes several collectives, and longer
// than writing a small file.
// Method: the library's communicator is an attribute of the application's and is freed with it.
// Those that are left are freed when MPI ends.
#include <mutex>
#include <set>

#include "comm/end_of_mpi.hpp"
#include "comm/mpi/mpi_comm.hpp"
#include "comm/mpi/parking.hpp"
#include "comm/trace/traced_comm.hpp"

namespace stria {

namespace {

using Entry = std::shared_ptr<Comm>;

struct Cache {
  std::mutex mutex;
  std::set<Entry*> entries;
  int keyval = MPI_KEYVAL_INVALID;
};

// Never destroyed, because MPI calls back late.
Cache& cache() {
  static Cache* instance = new Cache;
  return *instance;
}

int forget(MPI_Comm, int, void* value, void*) {
  auto* entry = static_cast<Entry*>(value);
  {
    std::lock_guard lock(cache().mutex);
    cache().entries.erase(entry);
  }
  delete entry;
  return MPI_SUCCESS;
}

void release_all() {
  {
    std::lock_guard lock(cache().mutex);
    for (Entry* entry : cache().entries) {
      entry->reset();
    }
  }
  free_all_parked();
}

// Returns the key of the library's attribute, made at the first call.
int attribute_key() {
  std::lock_guard lock(cache().mutex);
  if (cache().keyval == MPI_KEYVAL_INVALID) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &cache().keyval, nullptr);
    at_end_of_mpi(MpiEnd::kCommunicators, release_all);
  }
  return cache().keyval;
}

}  // namespace

Result<std::shared_ptr<Comm>> cached_mpi_comm(MPI_Comm parent) {
  STRIA_RETURN_IF_ERROR(check_communicator(parent));
  int key = attribute_key();
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(parent, key, &value, &found);
  if (found != 0 && *static_cast<Entry*>(value) != nullptr) {
    return *static_cast<Entry*>(value);
  }
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<Comm> made, make_mpi_comm(parent));
  auto* entry = new Entry(make_traced_comm(std::move(made)));
  MPI_Comm_set_attr(parent, key, entry);
  std::lock_guard lock(cache().mutex);
  cache().entries.insert(entry);
  return *entry;
}

}  // namespace stria
