// Error handlers of files, and the words of errors.
//
// A failed call goes to the file's handler. Files begin with the handler of MPI_FILE_NULL, which
// begins as MPI_ERRORS_RETURN. The code of a call is the class of the error. MPI_Error_string tells
// what happened, to which file and why, until the thread's next failure of that class.
#pragma once

#include <mpi.h>

#include <string>

#include "mpiio/mpi/outcome.hpp"

namespace stria::mpiio {

/// A handler as a file has it. Copies refer to one registration with MPI, which stays until
/// the program ends.
struct Handler {
  enum class Kind { kReturn, kFatal, kFunction, kFortran };
  Kind kind = Kind::kReturn;
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;  ///< null: MPI_ERRORS_RETURN
  MPI_File_errhandler_function* function = nullptr;
};

/// Keeps a handler that the program has made. MPI must never reuse its handle, because
/// files may have it.
void keep_handler(MPI_Errhandler handle, MPI_File_errhandler_function* function, Handler::Kind kind);
/// Returns a handle for the program to free.
MPI_Errhandler new_reference_to(const Handler& handler);
/// Finds the handler behind MPI's handle; MPI_ERR_ARG when it is not one for files.
Outcome find_handler(MPI_Errhandler handle, Handler& found);
/// Returns the one of MPI_FILE_NULL, which files take over when they are opened.
Handler default_handler();
void set_default_handler(const Handler& handler);

/// Calls the handler with a failure of `file` and returns the code that it leaves.
int call(const Handler& handler, MPI_File file, const Outcome& outcome);
/// Does the same for the outcome of a call of this library, which MPI_Error_string tells from then
/// on. MPI_SUCCESS for a success.
int report(const Handler& handler, MPI_File file, const Outcome& outcome);

/// Returns the words of the thread's last failure of that class; null when it had none.
const std::string* words_of_last_failure(int code);

}  // namespace stria::mpiio
