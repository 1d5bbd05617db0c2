#include "mpiio/file/handlers.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "comm/end_of_mpi.hpp"
#include "mpiio/file/handles.hpp"
#include "mpiio/mpi/real_mpi.hpp"

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

// Returns the words of the thread's last failure of each class.
std::map<int, std::string>& last_words() {
  thread_local std::map<int, std::string> words;
  return words;
}

// Makes one more reference to the handler, because the program may free it. MPI counts a reference
// when a file of its own has the handler.
MPI_Errhandler reference_to(MPI_Errhandler handle) {
  static std::mutex mutex;  // the handler of MPI_FILE_NULL is the process's
  const std::lock_guard lock(mutex);
  MPI_Errhandler previous = MPI_ERRHANDLER_NULL;
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  STRIA_MPIIO_REAL(File_get_errhandler)(MPI_FILE_NULL, &previous);
  STRIA_MPIIO_REAL(File_set_errhandler)(MPI_FILE_NULL, handle);
  STRIA_MPIIO_REAL(File_get_errhandler)(MPI_FILE_NULL, &made);
  STRIA_MPIIO_REAL(File_set_errhandler)(MPI_FILE_NULL, previous);
  MPI_Errhandler_free(&previous);
  return made;
}

[[noreturn]] void die(const Outcome& outcome) {
  std::fprintf(stderr, "MPI-IO: %s\n", outcome.message().c_str());
  abort_job(outcome.error_class());
}

}  // namespace

void keep_handler(MPI_Errhandler handle, MPI_File_errhandler_function* function, Handler::Kind kind) {
  std::lock_guard lock(handlers().mutex);
  handlers().made[reference_to(handle)] = {kind, handle, function};
}

MPI_Errhandler new_reference_to(const Handler& handler) {
  return reference_to(handler.handle == MPI_ERRHANDLER_NULL ? MPI_ERRORS_RETURN : handler.handle);
}

const std::string* words_of_last_failure(int code) {
  const auto entry = last_words().find(code);
  return entry == last_words().end() ? nullptr : &entry->second;
}

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
  return code;  // The handler may have changed it.
}

}  // namespace stria::mpiio
