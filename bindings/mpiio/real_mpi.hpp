// The MPI library's own functions behind those that this library defines itself.
#pragma once

#include <dlfcn.h>

namespace stria::mpiio {

/// The next definition of `name` after this library's; null when there is none.
template <typename Function>
Function* real_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace stria::mpiio

/// A reference to the MPI's own PMPI_`name`, looked up once.
#define STRIA_MPIIO_REAL(name)                                                                     \
  ([]() -> decltype(PMPI_##name)& {                                                                \
    static auto* definition = ::stria::mpiio::real_function<decltype(PMPI_##name)>("PMPI_" #name); \
    return *definition;                                                                            \
  }())

/// Makes PMPI_`name` another name of MPI_`name`, which is defined before it in the same file.
#define STRIA_MPIIO_TWIN(name) \
  extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name
