# Every library that we build on, checked for its version where Debian 12 offers more than one.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# MPI: Debian installs both flavours side by side, with suffixed wrappers; other systems have one,
# without. A wheel for Python takes what there is. Without MPI there are the libraries of one
# process, for all languages, and the command, but no tests.
if(SKBUILD)
  find_program(STRIA_ANY_MPICXX NAMES mpicxx.${STRIA_MPI} mpicxx.openmpi mpicxx.mpich)
  if(STRIA_ANY_MPICXX)
    string(REGEX REPLACE ".*[.]" "" STRIA_MPI "${STRIA_ANY_MPICXX}")
  else()
    set(STRIA_MPI none)
  endif()
endif()
if(STRIA_MPI STREQUAL "none")
  set(STRIA_HAS_MPI OFF)
  set(STRIA_BUILD_TESTS OFF)
  set(STRIA_BUILD_BENCH OFF)
  set(STRIA_SUFFIXES _serial)
else()
  if(NOT STRIA_MPI MATCHES "^(openmpi|mpich)$")
    message(FATAL_ERROR "STRIA_MPI is '${STRIA_MPI}'; use openmpi, mpich or none")
  endif()
  set(STRIA_HAS_MPI ON)
  set(STRIA_SUFFIXES ";_serial")  # of the libraries: one for this MPI, one without
  find_program(STRIA_MPICXX NAMES mpicxx.${STRIA_MPI} mpicxx REQUIRED)
  find_program(STRIA_MPICC NAMES mpicc.${STRIA_MPI} mpicc REQUIRED)
  find_program(STRIA_MPIEXEC NAMES mpiexec.${STRIA_MPI} mpiexec REQUIRED)
  set(MPI_CXX_COMPILER ${STRIA_MPICXX} CACHE FILEPATH "" FORCE)
  set(MPI_C_COMPILER ${STRIA_MPICC} CACHE FILEPATH "" FORCE)
  set(MPIEXEC_EXECUTABLE ${STRIA_MPIEXEC} CACHE FILEPATH "" FORCE)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI 3.1 REQUIRED COMPONENTS C CXX)
endif()

# Serial HDF5: Debian keeps it under its own pkg-config name, beside the parallel ones.
pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial>=1.10 hdf5>=1.10)
pkg_check_modules(URING REQUIRED IMPORTED_TARGET liburing>=2.0)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash>=0.8)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal>=2.30)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.4)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.16)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.37)
find_path(STRIA_ASIO_INCLUDE asio/awaitable.hpp REQUIRED)
# Only its header: the library is loaded when a path rados:// is used.
find_path(STRIA_RADOS_INCLUDE rados/librados.h)
if(NOT STRIA_RADOS_INCLUDE)
  message(STATUS "No rados/librados.h (Debian: librados-dev): this build refuses paths rados://")
endif()
# Likewise, when a dataset asks for ZFP.
find_path(STRIA_ZFP_INCLUDE zfp.h)
if(NOT STRIA_ZFP_INCLUDE)
  message(STATUS "No zfp.h (Debian: libzfp-dev): this build refuses the filter ZFP")
endif()

# PnetCDF, for benchmarks and tests: stria_pnetcdf where it is there, built on this MPI. Debian's is on
# Open MPI, and the pkg-config file of Debian 13 names folders that are nowhere.
if(STRIA_MPI STREQUAL "openmpi")
  find_path(STRIA_PNETCDF_INCLUDE pnetcdf.h)
  find_library(STRIA_PNETCDF_LIBRARY pnetcdf)
  if(STRIA_PNETCDF_INCLUDE AND STRIA_PNETCDF_LIBRARY)
    add_library(stria_pnetcdf INTERFACE)
    target_include_directories(stria_pnetcdf SYSTEM INTERFACE ${STRIA_PNETCDF_INCLUDE})
    target_link_libraries(stria_pnetcdf INTERFACE ${STRIA_PNETCDF_LIBRARY})
  endif()
endif()

find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
