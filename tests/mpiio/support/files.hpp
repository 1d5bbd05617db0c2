// Opening a test's file and removing it.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <string>

#include "mpiio/support/suite.hpp"

namespace mpiio {

/// What MPI_File_open answers.
inline int open_code(const std::string& path, int mode, MPI_File* file, MPI_Comm comm = MPI_COMM_WORLD) {
  *file = MPI_FILE_NULL;
  return MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, file);
}

inline MPI_File open(const std::string& path, int mode = MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(open_code(path, mode, &file, comm));
  return file;
}

/// Once every rank has done with it. Collective over MPI_COMM_WORLD.
inline void remove_later(const Suite& suite, const std::string& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace mpiio
