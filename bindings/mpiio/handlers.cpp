#include "handlers.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "call_span.hpp"
#include "handles.hpp"
#include "real_mpi.hpp"

namespace stria::mpiio {

namespace {

using FortranFunction = void(MPI_Fint*, MPI_Fint*);

struct Handlers {
  std::mutex mutex;
  std::map<MPI_Errhandler, Handler> made;
  Handler default_one;
};

Handlers& handlers() {
  static Handlers* instance = new Handlers;
  return *instance;
}

// What the thread's last failure of each class was.
std::map<int, std::string>& last_words() {
  thread_local std::map<int, std::string> words;
  return words;
}

// One more reference to the handler, which the program may free: MPI counts them when a file of its own has the handler.
MPI_Errhandler reference_to(MPI_Errhandler handle) {
  MPI_Errhandler previous = MPI_ERRHANDLER_NULL;
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  STRIA_MPIIO_REAL(File_get_errhandler)(MPI_FILE_NULL, &previous);
  STRIA_MPIIO_REAL(File_set_errhandler)(MPI_FILE_NULL, handle);
  STRIA_MPIIO_REAL(File_get_errhandler)(MPI_FILE_NULL, &made);
  STRIA_MPIIO_REAL(File_set_errhandler)(MPI_FILE_NULL, previous);
  MPI_Errhandler_free(&previous);
  return made;
}

// A handle that files may have is never MPI's to give to another handler.
void keep(MPI_Errhandler handle, MPI_File_errhandler_function* function, Handler::Kind kind) {
  std::lock_guard lock(handlers().mutex);
  handlers().made[reference_to(handle)] = {kind, handle, function};
}

[[noreturn]] void die(const Outcome& outcome) {
  std::fprintf(stderr, "MPI-IO: %s\n", outcome.message().c_str());
  MPI_Abort(MPI_COMM_WORLD, outcome.error_class());
  std::abort();
}

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

Outcome find_handler(MPI_Errhandler handle, Handler& found) {
  if (handle == MPI_ERRORS_RETURN || handle == MPI_ERRORS_ARE_FATAL) {
    found = {handle == MPI_ERRORS_RETURN ? Handler::Kind::kReturn : Handler::Kind::kFatal, handle, nullptr};
    return {};
  }
#if MPI_VERSION >= 4
  if (handle == MPI_ERRORS_ABORT) {
    found = {Handler::Kind::kFatal, handle, nullptr};
    return {};
  }
#endif
  std::lock_guard lock(handlers().mutex);
  auto entry = handlers().made.find(handle);
  if (entry == handlers().made.end()) {
    return {MPI_ERR_ARG, "the error handler was not made by MPI_File_create_errhandler"};
  }
  found = entry->second;
  return {};
}

Handler default_handler() {
  std::lock_guard lock(handlers().mutex);
  return handlers().default_one;
}

void set_default_handler(const Handler& handler) {
  std::lock_guard lock(handlers().mutex);
  handlers().default_one = handler;
}

int report(const Handler& handler, MPI_File file, const Outcome& outcome) {
  if (outcome.ok()) {
    return MPI_SUCCESS;
  }
  last_words()[outcome.error_class()] = outcome.message();
  return call(handler, file, outcome);
}

int call(const Handler& handler, MPI_File file, const Outcome& outcome) {
  int code = outcome.error_class();
  switch (handler.kind) {
    case Handler::Kind::kReturn:
      break;
    case Handler::Kind::kFatal:
      die(outcome);
    case Handler::Kind::kFunction:
      handler.function(&file, &code);
      break;
    case Handler::Kind::kFortran: {
      MPI_Fint fortran_file = file_to_fortran(file);
      MPI_Fint fortran_code = code;
      reinterpret_cast<FortranFunction*>(handler.function)(&fortran_file, &fortran_code);
      code = fortran_code;
      break;
    }
  }
  return code;  // as the handler left it
}

}  // namespace stria::mpiio

using stria::mpiio::CallSpan;
using stria::mpiio::Handler;
using stria::mpiio::Outcome;

extern "C" {

int MPI_File_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  const CallSpan span("MPI_File_create_errhandler", 0);
  const int code = STRIA_MPIIO_REAL(File_create_errhandler)(function, errhandler);
  if (code == MPI_SUCCESS) {
    stria::mpiio::keep(*errhandler, function, Handler::Kind::kFunction);
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
  *errhandler = stria::mpiio::reference_to(handler.handle == MPI_ERRHANDLER_NULL ? MPI_ERRORS_RETURN : handler.handle);
  return MPI_SUCCESS;
}

int MPI_File_call_errhandler(MPI_File file, int code) {
  auto open_file = stria::mpiio::find_file(file);
  const CallSpan span("MPI_File_call_errhandler", stria::mpiio::trace_id_of(open_file.get()));
  if (open_file == nullptr && file != MPI_FILE_NULL) {
    return stria::mpiio::report(stria::mpiio::default_handler(), file, stria::mpiio::not_open());
  }
  const Handler handler = stria::mpiio::handler_of(open_file.get());
  // The code may be the program's own, and so is what MPI_Error_string says of it.
  static_cast<void>(stria::mpiio::call(handler, file, Outcome(code, "MPI_File_call_errhandler was called")));
  return MPI_SUCCESS;
}

int MPI_Error_string(int code, char* string, int* length) {
  const auto& words = stria::mpiio::last_words();
  auto entry = words.find(code);
  if (entry == words.end()) {
    return STRIA_MPIIO_REAL(Error_string)(code, string, length);
  }
  stria::mpiio::copy_shortened(entry->second, string, length);
  return MPI_SUCCESS;
}

STRIA_MPIIO_TWIN(File_create_errhandler);
STRIA_MPIIO_TWIN(File_set_errhandler);
STRIA_MPIIO_TWIN(File_get_errhandler);
STRIA_MPIIO_TWIN(File_call_errhandler);
STRIA_MPIIO_TWIN(Error_string);

// Fortran's handlers take a file's number, so they are marked. Open MPI's bindings, all three, come by the first name, MPICH's
// by the others.
__attribute__((visibility("default"))) void ompi_file_create_errhandler_f(void* function, MPI_Fint* errhandler,
                                                                          MPI_Fint* code) {
  auto* made_of = reinterpret_cast<MPI_File_errhandler_function*>(function);
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  const int outcome = STRIA_MPIIO_REAL(File_create_errhandler)(made_of, &handle);
  if (outcome == MPI_SUCCESS) {
    stria::mpiio::keep(handle, made_of, Handler::Kind::kFortran);
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
