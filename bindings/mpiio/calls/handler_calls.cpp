// The calls on error handlers of files, and the words of errors.
#include <cstring>
#include <string>

#include "mpiio/file/handlers.hpp"
#include "mpiio/file/handles.hpp"
#include "mpiio/mpi/real_mpi.hpp"
#include "mpiio/trace/call_span.hpp"

using stria::mpiio::CallSpan;
using stria::mpiio::Handler;
using stria::mpiio::Outcome;

namespace {

// Both ends of a message matter: what was done to which file, and the system's words.
void copy_shortened(const std::string& words, char* string, int* length) {
  constexpr size_t kRoom = MPI_MAX_ERROR_STRING - 1;
  std::string text = words;
  if (text.size() > kRoom) {
    const size_t half = (kRoom - 5) / 2;
    text = words.substr(0, half) + " ... " + words.substr(words.size() - half);
  }
  std::memcpy(string, text.c_str(), text.size() + 1);
  *length = static_cast<int>(text.size());
}

}  // namespace

extern "C" {

int MPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  const CallSpan span("MPI_File_create_errhandler", 0);
  const int code = STRIA_MPIIO_REAL(File_create_errhandler)(function, errhandler);
  if (code == MPI_SUCCESS) {
    stria::mpiio::keep_handler(*errhandler, function, Handler::Kind::kFunction);
  }
  return code;
}

int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler) {
  Handler handler;
  auto open_file = stria::mpiio::find_file(file);
  const CallSpan span("MPI_File_set_errhandler", stria::mpiio::trace_id_of(open_file.get()));
  if (open_file == nullptr && file != MPI_FILE_NULL) {
    return stria::mpiio::report(stria::mpiio::default_handler(), file, stria::mpiio::not_open());
  }
  Outcome outcome = stria::mpiio::find_handler(errhandler, handler);
  if (!outcome.ok()) {
    return stria::mpiio::report(stria::mpiio::handler_of(open_file.get()), file, outcome);
  }
  if (open_file == nullptr) {
    stria::mpiio::set_default_handler(handler);
  } else {
    stria::mpiio::set_handler(*open_file, handler);
  }
  return MPI_SUCCESS;
}

int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler* errhandler) {
  auto open_file = stria::mpiio::find_file(file);
  const CallSpan span("MPI_File_get_errhandler", stria::mpiio::trace_id_of(open_file.get()));
  if (open_file == nullptr && file != MPI_FILE_NULL) {
    return stria::mpiio::report(stria::mpiio::default_handler(), file, stria::mpiio::not_open());
  }
  const Handler handler = stria::mpiio::handler_of(open_file.get());
  *errhandler = stria::mpiio::new_reference_to(handler);
  return MPI_SUCCESS;
}

int MPI_File_call_errhandler(MPI_File file, int code) {
  auto open_file = stria::mpiio::find_file(file);
  const CallSpan span("MPI_File_call_errhandler", stria::mpiio::trace_id_of(open_file.get()));
  if (open_file == nullptr && file != MPI_FILE_NULL) {
    return stria::mpiio::report(stria::mpiio::default_handler(), file, stria::mpiio::not_open());
  }
  const Handler handler = stria::mpiio::handler_of(open_file.get());
  // The code may be the program's own; then so is the text of MPI_Error_string.
  static_cast<void>(stria::mpiio::call(handler, file, Outcome(code, "MPI_File_call_errhandler was called")));
  return MPI_SUCCESS;
}

int MPI_Error_string(int code, char* string, int* length) {
  const std::string* words = stria::mpiio::words_of_last_failure(code);
  if (words == nullptr) {
    return STRIA_MPIIO_REAL(Error_string)(code, string, length);
  }
  copy_shortened(*words, string, length);
  return MPI_SUCCESS;
}

STRIA_MPIIO_TWIN(File_create_errhandler);
STRIA_MPIIO_TWIN(File_set_errhandler);
STRIA_MPIIO_TWIN(File_get_errhandler);
STRIA_MPIIO_TWIN(File_call_errhandler);
STRIA_MPIIO_TWIN(Error_string);

// Fortran's handlers take a file's number, so they are marked. All three bindings of Open MPI call
// the first name, MPICH's the others.
__attribute__((visibility("default"))) void ompi_file_create_errhandler_f(void* function, MPI_Fint* errhandler,
                                                                          MPI_Fint* code) {
  auto* made_of = reinterpret_cast<MPI_File_errhandler_function*>(function);
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  const int outcome = STRIA_MPIIO_REAL(File_create_errhandler)(made_of, &handle);
  if (outcome == MPI_SUCCESS) {
    stria::mpiio::keep_handler(handle, made_of, Handler::Kind::kFortran);
    *errhandler = MPI_Errhandler_c2f(handle);
  }
  if (code != nullptr) {
    *code = outcome;
  }
}
#define STRIA_MPIIO_FORTRAN_NAME(name) \
  __attribute__((visibility("default"), alias("ompi_file_create_errhandler_f"))) void name(void*, MPI_Fint*, MPI_Fint*)
STRIA_MPIIO_FORTRAN_NAME(mpi_file_create_errhandler_);
STRIA_MPIIO_FORTRAN_NAME(pmpi_file_create_errhandler_);
STRIA_MPIIO_FORTRAN_NAME(mpi_file_create_errhandler__);
STRIA_MPIIO_FORTRAN_NAME(pmpi_file_create_errhandler__);
STRIA_MPIIO_FORTRAN_NAME(mpi_file_create_errhandler);
STRIA_MPIIO_FORTRAN_NAME(pmpi_file_create_errhandler);
STRIA_MPIIO_FORTRAN_NAME(mpi_file_create_errhandler_f08_);
STRIA_MPIIO_FORTRAN_NAME(pmpir_file_create_errhandler_f08_);

}  // extern "C"
