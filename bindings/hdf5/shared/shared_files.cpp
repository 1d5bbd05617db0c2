#include "hdf5/shared/shared_files.hpp"

#include "hdf5/report/counts.hpp"

namespace stria::hdf5 {

namespace {

// Shorter pieces are better moved together.
constexpr int64_t kLeastPieceBytes = 64 << 10;

int64_t size_of(const Mpi& mpi, MpiHandle type) {
  int64_t bytes = 0;
  mpi.MPI_Type_size_x(type, &bytes);
  return bytes;
}

/// Returns where the one piece of a datatype begins; no value where it has more or none.
std::optional<int64_t> begin_of_piece(const Mpi& mpi, MpiHandle type) {
  int64_t first = 0;
  int64_t extent = 0;
  if (mpi.is_same(type, mpi.byte)) {
    return 0;
  }
  const bool is_piece = mpi.MPI_Type_get_true_extent(type, &first, &extent) == kMpiSuccess && size_of(mpi, type) == extent;
  return is_piece ? std::optional(first) : std::nullopt;
}

bool write_counted(PageFile& pages, ByteRange place, const std::byte* bytes) {
  const bool is_written = pages.write(place, bytes);
  if (is_written) {
    count_by_pages();
  }
  return is_written;
}

bool is_true_on_all(const Mpi& mpi, MpiHandle comm, bool here) {
  int is_false = here ? 0 : 1;
  int is_any_false = 1;
  return mpi.MPI_Allreduce(&is_false, &is_any_false, 1, mpi.integer, mpi.greatest, comm) == kMpiSuccess && is_any_false == 0;
}

}  // namespace

// They are never destroyed: programs close files late.
SharedFiles& SharedFiles::all() {
  static auto* instance = new SharedFiles;
  return *instance;
}

void SharedFiles::opened(const Mpi& mpi, MpiFile handle, MpiHandle comm, const std::string& name, int mode) {
  int ranks = 1;
  if (!mpi.is_known || mpi.is_drop_in || mpi.MPI_Comm_size(comm, &ranks) != kMpiSuccess || ranks == 1) {
    return;
  }
  Known file;
  file.mpi = &mpi;
  file.comm = comm;
  file.moves_alone = !mpi.has_int_handles;
  if ((mode & (kModeWriteOnly | kModeReadWrite)) != 0) {
    file.pages = PageFile::open(name);
    if (!is_true_on_all(mpi, comm, file.pages != nullptr)) {
      file.pages = nullptr;
    }
  }
  const std::lock_guard lock(mutex_);
  files_[handle] = std::move(file);
}

void SharedFiles::viewed(MpiFile handle, MpiOffset begin, MpiHandle type) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(handle);
  if (file == files_.end()) {
    return;
  }
  Known& known = file->second;
  const auto first = begin_of_piece(*known.mpi, type);
  known.is_one_piece = first.has_value();
  known.begin = begin + first.value_or(0);
  known.bytes = known.mpi->is_same(type, known.mpi->byte) ? Known().bytes : size_of(*known.mpi, type);
}

void SharedFiles::closed(MpiFile handle) {
  const std::lock_guard lock(mutex_);
  files_.erase(handle);
}

std::optional<SharedFiles::Known> SharedFiles::find(MpiFile handle) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(handle);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

bool SharedFiles::are_pieces(const MpiTransfer& transfer, bool is_write) {
  const auto file = find(transfer.handle);
  if (!file || (!file->moves_alone && (!is_write || file->pages == nullptr))) {
    return false;
  }
  const int64_t bytes = transfer.count * size_of(*file->mpi, transfer.type);
  return is_true_on_all(*file->mpi, file->comm, bytes == 0 || (file->is_one_piece && bytes >= kLeastPieceBytes));
}

bool SharedFiles::write_pages(const MpiTransfer& transfer, const void* data, void* status) {
  const auto file = find(transfer.handle);
  if (!file || file->pages == nullptr || !file->is_one_piece) {
    return false;
  }
  const Mpi& mpi = *file->mpi;
  const auto first = begin_of_piece(mpi, transfer.type);
  const int64_t bytes = transfer.count * size_of(mpi, transfer.type);
  const bool is_piece = first && (transfer.count == 1 || mpi.is_same(transfer.type, mpi.byte));
  if (!is_piece || bytes < kLeastPieceBytes || transfer.offset + bytes > file->bytes) {
    return false;
  }
  const int64_t begin = file->begin + transfer.offset;
  // `data` may be MPI_BOTTOM, which is null.
  const auto address = reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(*first);
  return write_counted(*file->pages, {begin, begin + bytes}, reinterpret_cast<const std::byte*>(address)) &&
         mpi.MPI_Status_set_elements_x(status, mpi.byte, bytes) == kMpiSuccess;
}

bool SharedFiles::write_pages(MpiFile handle, ByteRange place, const std::byte* bytes) {
  const auto file = find(handle);
  return file && file->pages != nullptr && place.size() >= kLeastPieceBytes && write_counted(*file->pages, place, bytes);
}

bool SharedFiles::has_pages(MpiFile handle) {
  const auto file = find(handle);
  return file && file->pages != nullptr;
}

}  // namespace stria::hdf5
