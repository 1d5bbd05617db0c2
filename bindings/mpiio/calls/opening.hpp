// Opening, closing and deleting files.
#pragma once

#include <mpi.h>

#include <memory>

#include "mpiio/file/file.hpp"
#include "mpiio/mpi/outcome.hpp"

namespace stria::mpiio {

/// Does what MPI_File_open does.
Outcome open_file(MPI_Comm comm, const char* name, int amode, MPI_Info info, std::shared_ptr<File>& made);

/// MPI_File_close, except for the handle. Collective: yes; the outcome is the same on every rank.
Outcome close_file(File& file);

/// Returns the recorder's number of the file of that name; 0 when it is null or empty.
uint16_t trace_id_of(const char* name);

/// Does what MPI_File_delete does.
Outcome delete_file(const char* name, MPI_Info info);

}  // namespace stria::mpiio
