// Describes what HDF5 does with its MPI_Files, as this library sees it (files.hpp). Without
// STRIA_HDF5_DEFER, and for files that it doesn't know, calls go on as they come.
#include <utility>

#include "hdf5/defer/files.hpp"
#include "hdf5/report/counts.hpp"
#include "hdf5/settings/settings.hpp"
#include "hdf5/shared/shared_files.hpp"

namespace stria::hdf5 {

namespace {

bool is_deferring() {
  return most_held_bytes() > 0;
}

DeferredFiles& files() {
  return DeferredFiles::all();
}

/// Returns the first that is no success.
int first_error(int one, int other) {
  return one != kMpiSuccess ? one : other;
}

/// Writes what lies in these bytes before HDF5 moves them by itself.
int write_what_it_touches(const Mpi& mpi, MpiFile handle, MpiOffset offset, int count, MpiHandle type) {
  if (!files().has_any_held()) {
    return kMpiSuccess;
  }
  const auto lock = files().lock();
  DeferredFile* const file = files().find(handle);
  const bool is_other = file != nullptr && mpi.is_same(type, mpi.byte) && !files().touches(*file, {offset, offset + count});
  return file == nullptr || is_other ? kMpiSuccess : files().write_alone(*file);
}

/// Writes what is held before a call that all ranks of the file make. They go on with it whatever
/// this returns.
int write_before_collective(MpiFile handle, bool is_read = false) {
  if (!is_deferring()) {
    return kMpiSuccess;
  }
  const auto lock = files().lock();
  DeferredFile* const file = files().find(handle);
  const int error = file == nullptr ? kMpiSuccess : files().write_together(*file);
  if (is_read && file != nullptr && file->may_hold && file->rank_count > 1) {
    file->mpi->MPI_Barrier(file->comm);  // another rank may ask for the bytes
  }
  return error;
}

int write_alone(const Mpi& mpi, const MpiTransfer& transfer, const void* data, void* status) {
  return SharedFiles::all().write_pages(transfer, data, status)
             ? kMpiSuccess
             : mpi.MPI_File_write_at(transfer.handle, transfer.offset, data, transfer.count, transfer.type, status);
}

}  // namespace

}  // namespace stria::hdf5

using namespace stria::hdf5;  // NOLINT: the calls below are this file's purpose

extern "C" {

int MPI_File_open(MpiHandle comm, const char* name, int mode, MpiHandle info, MpiFile* handle) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  if (files().has_any_held()) {
    const auto lock = files().lock();
    files().write_all_alone();  // it may be the same file
  }
  const int outcome = mpi.MPI_File_open(comm, name, mode, info, handle);
  if (outcome == kMpiSuccess && OpeningByHdf5::is_now() && !is_turned_off()) {
    SharedFiles::all().opened(mpi, *handle, comm, name, mode);
  }
  if (is_deferring() && outcome == kMpiSuccess && OpeningByHdf5::is_now()) {
    const auto lock = files().lock();
    DeferredFile file;
    file.handle = *handle;
    file.comm = comm;
    file.info = info;
    file.name = name;
    files().add(mpi, std::move(file), mode);
  }
  return outcome;
}

int MPI_File_close(MpiFile* handle) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  static_cast<void>(write_before_collective(*handle));
  if (is_deferring()) {
    const auto lock = files().lock();
    if (DeferredFile* const file = files().find(*handle); file != nullptr) {
      files().remove(file);
    }
  }
  SharedFiles::all().closed(*handle);
  // HDF5 1.10 frees a file twice that can't be closed, so that H5Fclose tells of lost bytes.
  return mpi.MPI_File_close(handle);
}

int MPI_File_read_at(MpiFile handle, MpiOffset offset, void* data, int count, MpiHandle type, void* status) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_what_it_touches(mpi, handle, offset, count, type);
  return error != kMpiSuccess ? error : mpi.MPI_File_read_at(handle, offset, data, count, type, status);
}

int MPI_File_write_at(MpiFile handle, MpiOffset offset, const void* data, int count, MpiHandle type, void* status) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_what_it_touches(mpi, handle, offset, count, type);
  return error != kMpiSuccess ? error : write_alone(mpi, {handle, offset, count, type}, data, status);
}

int MPI_File_read_at_all(MpiFile handle, MpiOffset offset, void* data, int count, MpiHandle type, void* status) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_before_collective(handle, true);
  if (SharedFiles::all().are_pieces({handle, offset, count, type}, false)) {
    count_alone(false);
    return first_error(mpi.MPI_File_read_at(handle, offset, data, count, type, status), error);
  }
  return first_error(mpi.MPI_File_read_at_all(handle, offset, data, count, type, status), error);
}

int MPI_File_write_at_all(MpiFile handle, MpiOffset offset, const void* data, int count, MpiHandle type, void* status) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_before_collective(handle);
  if (SharedFiles::all().are_pieces({handle, offset, count, type}, true)) {
    count_alone(true);
    return first_error(write_alone(mpi, {handle, offset, count, type}, data, status), error);
  }
  return first_error(mpi.MPI_File_write_at_all(handle, offset, data, count, type, status), error);
}

int MPI_File_set_view(MpiFile handle, MpiOffset offset, MpiHandle element, MpiHandle type, const char* representation,
                      MpiHandle info) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_before_collective(handle);
  SharedFiles::all().viewed(handle, offset, type);
  return first_error(mpi.MPI_File_set_view(handle, offset, element, type, representation, info), error);
}

int MPI_File_set_size(MpiFile handle, MpiOffset bytes) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_before_collective(handle);
  return first_error(mpi.MPI_File_set_size(handle, bytes), error);
}

int MPI_File_sync(MpiFile handle) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_before_collective(handle);
  return first_error(mpi.MPI_File_sync(handle), error);
}

int MPI_File_set_atomicity(MpiFile handle, int is_atomic) {
  const Mpi& mpi = mpi_of(__builtin_return_address(0));
  const int error = write_before_collective(handle);
  if (is_atomic != 0) {
    SharedFiles::all().closed(handle);
  }
  if (is_deferring()) {
    const auto lock = files().lock();
    if (DeferredFile* const file = files().find(handle); file != nullptr) {
      file->may_hold = file->may_hold && is_atomic == 0;
    }
  }
  return first_error(mpi.MPI_File_set_atomicity(handle, is_atomic), error);
}

}  // extern "C"
