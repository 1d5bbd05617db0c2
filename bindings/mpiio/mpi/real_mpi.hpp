// The MPI library's own functions behind those that this library defines itself.
#pragma once

#include <dlfcn.h>

namespace stria::mpiio {

/// Returns the next definition of `name` after this library's; null when there is none.
template <typename Function>
Function* real_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace stria::mpiio

/// This refers to the next MPI_`name`, looked up once: the MPI's own, or that of a tool behind this
/// library.
#define STRIA_MPIIO_NEXT(name)                                                                   \
  ([]() -> decltype(MPI_##name)& {                                                               \
    static auto* definition = ::stria::mpiio::real_function<decltype(MPI_##name)>("MPI_" #name); \
    return *definition;                                                                          \
  }())

/// A reference to the MPI's own PMPI_`name`, looked up once.
#define STRIA_MPIIO_REAL(name)                                                                     \
  ([]() -> decltype(PMPI_##name)& {                                                                \
    static auto* definition = ::stria::mpiio::real_function<decltype(PMPI_##name)>("PMPI_" #name); \
    return *definition;                                                                            \
  }())

/// Defines MPI_`name` and PMPI_`name` by BODY(next, arguments…), for calls to which this library
/// only adds something. A tool behind it is not left out; when the tool calls PMPI_`name`, that
/// comes here again.
#define STRIA_MPIIO_ADD_TO(name, BODY, parameters, ...) \
  extern "C" int MPI_##name parameters {                \
    return BODY(STRIA_MPIIO_NEXT(name), __VA_ARGS__);   \
  }                                                     \
  extern "C" int PMPI_##name parameters {               \
    return BODY(STRIA_MPIIO_REAL(name), __VA_ARGS__);   \
  }

/// Makes PMPI_`name` another name of MPI_`name`, which is defined before it in the same file.
#define STRIA_MPIIO_TWIN(name) \
  extern "C" __attribute__((visibility("default"), alias("MPI_" #name))) decltype(MPI_##name) PMPI_##name
