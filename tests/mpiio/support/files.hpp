// Opening a test's file and removing it.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <string>

#include "mpiio/support/info.hpp"
#include "mpiio/support/suite.hpp"

namespace mpiio {

/// Returns what MPI_File_open returns.
inline int open_code(const std::string& path, int mode, MPI_File* file, MPI_Comm comm = MPI_COMM_WORLD) {
  *file = MPI_FILE_NULL;
  return MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, file);
}

inline MPI_File open(const std::string& path, int mode = MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_Comm comm = MPI_COMM_WORLD) {
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(open_code(path, mode, &file, comm));
  return file;
}

/// Returns a file in which each rank sees pieces of so many bytes; the ranks' pieces take turns.
inline MPI_File open_interleaved(const Suite& suite, const std::string& path, const Hints& hints, int piece_bytes) {
  const Info info(hints);
  MPI_File file = MPI_FILE_NULL;
  EXPECT_MPI(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, info.get(), &file));
  MPI_Datatype piece = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(piece_bytes, MPI_BYTE, &piece);
  MPI_Type_create_resized(piece, 0, MPI_Aint{piece_bytes} * suite.rank_count(), &filetype);
  MPI_Type_commit(&filetype);
  EXPECT_MPI(MPI_File_set_view(file, MPI_Offset{piece_bytes} * suite.rank(), MPI_BYTE, filetype, "native", MPI_INFO_NULL));
  MPI_Type_free(&filetype);
  MPI_Type_free(&piece);
  return file;
}

/// Removes a file when every rank has finished with it. Collective over MPI_COMM_WORLD.
inline void remove_later(const Suite& suite, const std::string& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (suite.rank() == 0) {
    unlink(path.c_str());
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace mpiio
