#include "hdf5/together/reads.hpp"

#include <optional>

namespace stria::hdf5 {

namespace {

// Shorter pieces are better read together.
constexpr int64_t kLeastPieceBytes = 64 << 10;

int64_t size_of(const Mpi& mpi, MpiHandle type) {
  int64_t bytes = 0;
  mpi.MPI_Type_size_x(type, &bytes);
  return bytes;
}

}  // namespace

// Never destroyed: programs close files late.
CollectiveReads& CollectiveReads::all() {
  static auto* instance = new CollectiveReads;
  return *instance;
}

void CollectiveReads::opened(const Mpi& mpi, MpiFile handle, MpiHandle comm) {
  int ranks = 1;
  if (mpi.is_known && !mpi.has_int_handles && !mpi.is_drop_in && mpi.MPI_Comm_size(comm, &ranks) == kMpiSuccess && ranks > 1) {
    const std::lock_guard lock(mutex_);
    files_[handle] = {&mpi, comm, true};
  }
}

void CollectiveReads::viewed(MpiFile handle, MpiHandle type) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(handle);
  if (file == files_.end()) {
    return;
  }
  const Mpi& mpi = *file->second.mpi;
  int64_t first = 0;
  int64_t extent = 0;
  file->second.is_one_piece =
      mpi.is_same(type, mpi.byte) ||
      (mpi.MPI_Type_get_true_extent(type, &first, &extent) == kMpiSuccess && size_of(mpi, type) == extent);
}

void CollectiveReads::closed(MpiFile handle) {
  const std::lock_guard lock(mutex_);
  files_.erase(handle);
}

bool CollectiveReads::are_pieces(MpiFile handle, int count, MpiHandle type) {
  std::optional<Known> file;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = files_.find(handle); found != files_.end()) {
      file = found->second;
    }
  }
  if (!file) {
    return false;
  }
  const Mpi& mpi = *file->mpi;
  const int64_t bytes = count * size_of(mpi, type);
  int is_scattered = bytes == 0 || (file->is_one_piece && bytes >= kLeastPieceBytes) ? 0 : 1;
  int is_any_scattered = 1;
  return mpi.MPI_Allreduce(&is_scattered, &is_any_scattered, 1, mpi.integer, mpi.greatest, file->comm) == kMpiSuccess &&
         is_any_scattered == 0;
}

}  // namespace stria::hdf5
