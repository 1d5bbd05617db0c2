// Holds what the tests of random transfers share: where chance comes from, and HDF5's own
// functions.
#pragma once

#include <dlfcn.h>
#include <hdf5.h>
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 0x1234567u) {}
  /// Draws from [low, high], both included.
  hsize_t between(hsize_t low, hsize_t high) { return low + engine_() % (high - low + 1); }
  bool one_in(hsize_t n) { return between(1, n) == 1; }

 private:
  std::mt19937_64 engine_;
};

/// Tells whether an address is libstria_hdf5's.
inline bool is_of_stria(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && std::strstr(info.dli_fname, "libstria_hdf5") != nullptr;
}

/// Tells whether the program's H5Dwrite is libstria_hdf5's.
inline bool is_served_by_preload() {
  return is_of_stria(dlsym(RTLD_DEFAULT, "H5Dwrite"));
}

/// HDF5's own function of that name, past what is preloaded: looked up in the library that a
/// function is of which is never preloaded. Ends the program where it would be another.
template <typename Function>
Function own_function(const char* name) {
  Dl_info info{};
  void* const library = dladdr(reinterpret_cast<const void*>(&H5Screate_simple), &info) != 0
                            ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                            : nullptr;
  void* const found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr || is_of_stria(found)) {
    std::fprintf(stderr, "HDF5's own %s was not found\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  return reinterpret_cast<Function>(found);
}

/// Tells whether transfers go through the VOL connector. It can't be passed, but told to pass
/// everything.
inline bool is_connected() {
#if H5_VERSION_GE(1, 14, 0)
  return H5VLis_connector_registered_by_name("stria") > 0;
#else
  return false;
#endif
}

template <typename Call>
herr_t with_connector_off(Call&& call) {
  setenv("STRIA_HDF5", "off", 1);
  const herr_t outcome = call();
  unsetenv("STRIA_HDF5");
  return outcome;
}
