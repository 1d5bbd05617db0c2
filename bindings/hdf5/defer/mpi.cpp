#include "hdf5/defer/mpi.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hdf5/library/library.hpp"

namespace stria::hdf5 {

namespace {

/// Looks behind this library first, then where the caller is linked: Python may load an MPI for one
/// module only.
class Finder {
 public:
  /// A plugin looks where the program itself would.
  Finder(const void* caller, bool is_plugin) : is_plugin_(is_plugin) {
    Dl_info info{};
    if (dladdr(caller, &info) != 0 && info.dli_fname != nullptr) {
      handle_ = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);  // the program has it open as well
    }
  }
  void* find(const char* name) const {
    void* const next = dlsym(is_plugin_ ? RTLD_DEFAULT : RTLD_NEXT, name);
    return next != nullptr || handle_ == nullptr ? next : dlsym(handle_, name);
  }
  /// Returns the address of data: the program itself may have the copy that counts.
  MpiHandle address(const char* name) const {
    void* const found = dlsym(RTLD_DEFAULT, name);
    return reinterpret_cast<MpiHandle>(found != nullptr ? found : find(name));
  }

 private:
  void* handle_ = nullptr;
  bool is_plugin_;
};

bool find_constants(const Finder& finder, Mpi& mpi) {
  if (finder.address("ompi_mpi_byte") != 0) {
    mpi.byte = finder.address("ompi_mpi_byte");
    mpi.integer = finder.address("ompi_mpi_int");
    mpi.greatest = finder.address("ompi_mpi_op_max");
    mpi.self = finder.address("ompi_mpi_comm_self");
    mpi.no_info = finder.address("ompi_mpi_info_null");
    mpi.failed = 35;
    return mpi.integer != 0 && mpi.greatest != 0 && mpi.self != 0;
  }
  // These are the same in MPICH, MVAPICH, Intel MPI and Cray MPICH (the MPICH ABI initiative).
  mpi.has_int_handles = true;
  mpi.byte = 0x4c00010d;
  mpi.integer = 0x4c000405;
  mpi.greatest = 0x58000001;
  mpi.self = 0x44000001;
  mpi.no_info = 0x1c000000;
  mpi.failed = 32;
  return finder.find("MPIR_Dup_fn") != nullptr;  // to which their mpi.h refers
}

/// There are no functions of files where there is no MPI.
Mpi make_mpi(const Finder& finder) {
  Mpi mpi;
  const FindSymbol symbols = [&finder](const char* name) { return finder.find(name); };
#define STRIA_MPI_FIND(name) find_function(symbols, #name, mpi.name)
  const bool has_files = STRIA_MPI_FIND(MPI_File_open) && STRIA_MPI_FIND(MPI_File_close) && STRIA_MPI_FIND(MPI_File_read_at) &&
                         STRIA_MPI_FIND(MPI_File_read_at_all) && STRIA_MPI_FIND(MPI_File_write_at) &&
                         STRIA_MPI_FIND(MPI_File_write_at_all) && STRIA_MPI_FIND(MPI_File_set_view) &&
                         STRIA_MPI_FIND(MPI_File_set_size) && STRIA_MPI_FIND(MPI_File_sync) &&
                         STRIA_MPI_FIND(MPI_File_set_atomicity);
  mpi.is_known = has_files && find_constants(finder, mpi) && STRIA_MPI_FIND(MPI_Allreduce) && STRIA_MPI_FIND(MPI_Barrier) &&
                 STRIA_MPI_FIND(MPI_Comm_free) && STRIA_MPI_FIND(MPI_Comm_size) && STRIA_MPI_FIND(MPI_Comm_create_keyval) &&
                 STRIA_MPI_FIND(MPI_Comm_set_attr) && STRIA_MPI_FIND(MPI_Error_string) && STRIA_MPI_FIND(MPI_Get_count) &&
                 STRIA_MPI_FIND(MPI_Status_set_elements_x) && STRIA_MPI_FIND(MPI_Type_commit) &&
                 STRIA_MPI_FIND(MPI_Type_create_hindexed) && STRIA_MPI_FIND(MPI_Type_free) &&
                 STRIA_MPI_FIND(MPI_Type_get_true_extent) && STRIA_MPI_FIND(MPI_Type_size_x) && STRIA_MPI_FIND(MPI_Finalized);
#undef STRIA_MPI_FIND
  Dl_info info{};
  mpi.is_drop_in = dladdr(reinterpret_cast<const void*>(mpi.MPI_File_write_at_all), &info) != 0 && info.dli_fname != nullptr &&
                   std::strstr(info.dli_fname, "libstria_mpiio") != nullptr;
  mpi.tells_collective_errors = mpi.has_int_handles || mpi.is_drop_in;
  return mpi;
}

}  // namespace

const Mpi& mpi_of(const void* caller) {
  static const Mpi mpi = make_mpi(Finder(caller, false));
  if (mpi.MPI_File_set_atomicity == nullptr) {  // the last that is looked for
    std::fputs("libstria_hdf5: the program calls MPI_File_open, which no library defines\n", stderr);
    std::abort();
  }
  return mpi;
}

const Mpi* mpi_that_is_loaded(const void* caller) {
  static const Mpi mpi = make_mpi(Finder(caller, true));
  return mpi.is_known ? &mpi : nullptr;
}

}  // namespace stria::hdf5
