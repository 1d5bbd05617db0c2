// The data accesses of MPI-IO: where each finds its position, and how it is carried out. Each
// returns an MPI error code, after it has called the file's handler. `call` is the function of the
// interface, as traces name it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>

#include "mpiio/file/handles.hpp"
#include "mpiio/trace/call_span.hpp"
#include "mpiio/transfer/operation.hpp"

namespace stria::mpiio {

enum class Pointer { kExplicit, kIndividual, kShared };

/// The arguments of a data access call, besides file, buffer and status.
struct Access {
  Direction direction;
  Pointer pointer;
  Together together;
  int64_t offset = 0;  ///< etypes; of kExplicit
};

int access_now(MPI_File handle, const Access& access, const UserBuffer& buffer, MPI_Status* status,
               const char* call = __builtin_FUNCTION());
int access_later(MPI_File handle, const Access& access, const UserBuffer& buffer, MPI_Request* request,
                 const char* call = __builtin_FUNCTION());
/// Shared pointer, in the order of the ranks.
int access_ordered(MPI_File handle, Direction direction, const UserBuffer& buffer, MPI_Status* status,
                   const char* call = __builtin_FUNCTION());
int begin_split(MPI_File handle, const Access& access, const UserBuffer& buffer, const char* call = __builtin_FUNCTION());
int begin_split_ordered(MPI_File handle, Direction direction, const UserBuffer& buffer,
                        const char* call = __builtin_FUNCTION());
/// `address` must be that of the begin call.
int end_split(MPI_File handle, Direction direction, const void* address, MPI_Status* status,
              const char* call = __builtin_FUNCTION());

/// Runs `body(file)`, which returns an Outcome, as the function `call` of the interface, and
/// reports the outcome.
template <typename Body>
int in_call(const char* call, MPI_File handle, const Body& body) {
  const std::shared_ptr<File> file = find_file(handle);
  const CallSpan span(call, trace_id_of(file.get()));
  if (file == nullptr) {
    return report(default_handler(), handle, not_open());
  }
  const CallNote note(call, file->path(), file->hints_in_force().wait_limits());
  Outcome outcome;
  try {
    outcome = body(file);
  } catch (const std::bad_alloc&) {
    outcome = {MPI_ERR_NO_MEM, "'" + file->path() + "': out of memory"};
  } catch (const std::exception& error) {
    outcome = {MPI_ERR_INTERN, "'" + file->path() + "': " + error.what()};
  }
  return report(file->handler(), handle, outcome);
}

/// Does the same, as the function in which it stands.
template <typename Body>
int with_file(MPI_File handle, const Body& body, const char* call = __builtin_FUNCTION()) {
  return in_call(call, handle, body);
}

}  // namespace stria::mpiio
