# Every library that we build on, checked for its version where Debian 12 offers more than one.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# MPI: Debian installs both flavours side by side, with suffixed wrappers.
if(NOT STRIA_MPI MATCHES "^(openmpi|mpich)$")
  message(FATAL_ERROR "STRIA_MPI is '${STRIA_MPI}'; use openmpi or mpich")
endif()
find_program(STRIA_MPICXX mpicxx.${STRIA_MPI} REQUIRED)
find_program(STRIA_MPICC mpicc.${STRIA_MPI} REQUIRED)
find_program(STRIA_MPIEXEC mpiexec.${STRIA_MPI} REQUIRED)
set(MPI_CXX_COMPILER ${STRIA_MPICXX} CACHE FILEPATH "" FORCE)
set(MPI_C_COMPILER ${STRIA_MPICC} CACHE FILEPATH "" FORCE)
set(MPIEXEC_EXECUTABLE ${STRIA_MPIEXEC} CACHE FILEPATH "" FORCE)
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI 3.1 REQUIRED COMPONENTS C CXX)

# Serial HDF5: Debian keeps it under its own pkg-config name, beside the parallel ones.
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial>=1.10)
pkg_check_modules(URING REQUIRED IMPORTED_TARGET liburing>=2.0)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash>=0.8)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal>=2.30)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium>=1.0.16)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3>=3.37)
find_path(STRIA_ASIO_INCLUDE asio/awaitable.hpp REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
