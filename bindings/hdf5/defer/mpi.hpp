// The program's MPI, found at run time: what deferred writes call of it.
//
// Problem: one library serves every MPI, and their handles and constants differ.
// Method: functions are found by name, behind this library's own or where the HDF5 that calls is
// linked. Handles are passed on as numbers that hold a pointer (Open MPI's) or an int (MPICH's).
#pragma once

#include <cstddef>
#include <cstdint>

namespace stria::hdf5 {

using MpiHandle = uintptr_t;  ///< a communicator, a datatype, an operation or MPI_Info
using MpiFile = void*;        ///< MPI_File, which both make a pointer
using MpiOffset = int64_t;
/// Has room for an MPI_Status.
struct MpiStatus {
  alignas(16) std::byte bytes[64];
};

inline constexpr int kMpiSuccess = 0;
inline constexpr int kModeWriteOnly = 4;
inline constexpr int kModeReadWrite = 8;

struct Mpi {
  MpiHandle byte = 0;  ///< MPI_BYTE
  MpiHandle integer = 0;
  MpiHandle greatest = 0;  ///< MPI_MAX
  MpiHandle self = 0;      ///< MPI_COMM_SELF
  MpiHandle no_info = 0;   ///< MPI_INFO_NULL
  int failed = 0;          ///< MPI_ERR_IO
  bool has_int_handles = false;
  /// Open MPI's own collective write (OMPIO 4.1) returns success where an aggregator's storage is
  /// full; ROMIO's and that of the MPI-IO drop-in don't.
  bool tells_collective_errors = false;
  /// Its files are those of the MPI-IO drop-in, which has locks of its own.
  bool is_drop_in = false;

  // What answers the calls of HDF5 behind this library.
  int (*MPI_File_open)(MpiHandle, const char*, int, MpiHandle, MpiFile*) = nullptr;
  int (*MPI_File_close)(MpiFile*) = nullptr;
  int (*MPI_File_read_at)(MpiFile, MpiOffset, void*, int, MpiHandle, void*) = nullptr;
  int (*MPI_File_read_at_all)(MpiFile, MpiOffset, void*, int, MpiHandle, void*) = nullptr;
  int (*MPI_File_write_at)(MpiFile, MpiOffset, const void*, int, MpiHandle, void*) = nullptr;
  int (*MPI_File_write_at_all)(MpiFile, MpiOffset, const void*, int, MpiHandle, void*) = nullptr;
  int (*MPI_File_set_view)(MpiFile, MpiOffset, MpiHandle, MpiHandle, const char*, MpiHandle) = nullptr;
  int (*MPI_File_set_size)(MpiFile, MpiOffset) = nullptr;
  int (*MPI_File_sync)(MpiFile) = nullptr;
  int (*MPI_File_set_atomicity)(MpiFile, int) = nullptr;

  int (*MPI_Allreduce)(const void*, void*, int, MpiHandle, MpiHandle, MpiHandle) = nullptr;
  int (*MPI_Barrier)(MpiHandle) = nullptr;
  int (*MPI_Comm_free)(MpiHandle*) = nullptr;
  int (*MPI_Comm_size)(MpiHandle, int*) = nullptr;
  int (*MPI_Comm_create_keyval)(int (*)(MpiHandle, int, void*, void*, void*, int*), int (*)(MpiHandle, int, void*, void*), int*,
                                void*) = nullptr;
  int (*MPI_Comm_set_attr)(MpiHandle, int, void*) = nullptr;
  int (*MPI_Error_string)(int, char*, int*) = nullptr;
  int (*MPI_Get_count)(const void*, MpiHandle, int*) = nullptr;
  int (*MPI_Status_set_elements_x)(void*, MpiHandle, int64_t) = nullptr;
  int (*MPI_Type_commit)(MpiHandle*) = nullptr;
  int (*MPI_Type_create_hindexed)(int, const int*, const int64_t*, MpiHandle, MpiHandle*) = nullptr;
  int (*MPI_Type_free)(MpiHandle*) = nullptr;
  int (*MPI_Type_get_true_extent)(MpiHandle, int64_t*, int64_t*) = nullptr;
  int (*MPI_Type_size_x)(MpiHandle, int64_t*) = nullptr;
  int (*MPI_Finalized)(int*) = nullptr;

  bool is_same(MpiHandle left, MpiHandle right) const {
    return has_int_handles ? static_cast<uint32_t>(left) == static_cast<uint32_t>(right) : left == right;
  }
  /// False where it isn't Open MPI nor of MPICH's kind: nothing is deferred then.
  bool is_known = false;
};

/// Returns the MPI that the code at `caller` means, as the first caller finds it. Ends the program
/// where there is none, because its call can't be made. Thread-safe.
const Mpi& mpi_of(const void* caller);

/// Returns the MPI that the program has loaded, for a plugin that it has loaded late; null where it
/// is none that is known, or a static one. Thread-safe.
const Mpi* mpi_that_is_loaded(const void* caller);

}  // namespace stria::hdf5
