// MPI_File handles of this library's files, in C and in Fortran.
//
// A handle is the address of the file; one that is not in the table of open files is refused. Files
// that the program leaves open are closed when MPI ends.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "mpiio/file/handlers.hpp"
#include "mpiio/mpi/outcome.hpp"

namespace stria::mpiio {

class File;

/// Null for MPI_FILE_NULL and for a handle of no open file.
std::shared_ptr<File> find_file(MPI_File handle);
MPI_File handle_of(const File& file);
/// Makes the file known under its handle.
void add_file(const std::shared_ptr<File>& file);
void remove_file(const File& file);
/// Returns all open files, in the order of their opening.
std::vector<std::shared_ptr<File>> open_files();

MPI_Fint file_to_fortran(MPI_File handle);
MPI_File file_from_fortran(MPI_Fint number);

/// Returns MPI_ERR_FILE, with words.
Outcome not_open();
/// Returns the file's handler; that of MPI_FILE_NULL when there is no file.
Handler handler_of(const File* file);
void set_handler(File& file, const Handler& handler);
/// Returns the recorder's number of the file; 0 when there is none.
uint16_t trace_id_of(const File* file);

}  // namespace stria::mpiio
