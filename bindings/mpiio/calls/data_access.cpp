#include "mpiio/calls/data_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "access/plan/facts.hpp"
#include "access/together/node/kept_windows.hpp"
#include "base/byte_range.hpp"
#include "base/checked.hpp"
#include "mpiio/background/jobs.hpp"

namespace stria::mpiio {

namespace {

using OperationPtr = std::shared_ptr<Operation>;

// Keeps the first error; an operation that has one moves nothing.
void fail(Operation& operation, const Outcome& outcome) {
  if (operation.outcome.ok()) {
    operation.outcome = outcome;
  }
  operation.bytes = 0;
}

// Checks that the bytes at the known position are within reach. Tells the trace what the call
// under way moves.
void check_place(Operation& operation) {
  if (Outcome reach = operation.view->check_reach(operation.position, operation.bytes); !reach.ok()) {
    fail(operation, reach);
  }
  describe_transfer(operation.file->trace().counters(), operation.writes(), operation.bytes,
                    operation.bytes > 0 ? operation.view->offset_of(operation.position) : -1);
}

Outcome check_pointer(const File& file, Pointer pointer) {
  if (file.mode().is_sequential() && pointer != Pointer::kShared) {
    return {MPI_ERR_UNSUPPORTED_OPERATION,
            fmt::format("'{}': with MPI_MODE_SEQUENTIAL only the shared pointer can be used", file.path())};
  }
  return {};
}

void place_explicitly(File& file, int64_t offset, Operation& operation) {
  if (offset < 0 || !checked_multiply(offset, file.etype_bytes(), &operation.position)) {
    fail(operation, {MPI_ERR_ARG, fmt::format("'{}': the offset is {}", file.path(), offset)});
  }
}

void place_at_shared_pointer(File& file, Operation& operation) {
  if (!operation.outcome.ok()) {
    return;
  }
  if (Outcome advanced = advance_shared(file, operation.bytes, operation.position); !advanced.ok()) {
    fail(operation, advanced);
  }
}

std::unique_lock<std::mutex> hold_pointer(File& file, const Access& access) {
  return access.pointer == Pointer::kIndividual ? file.pointer().hold() : std::unique_lock<std::mutex>();
}

// Finds the position. A pointer that can be moved before the outcome is known is moved here.
OperationPtr prepare_at(const std::shared_ptr<File>& file, const Access& access, const UserBuffer& buffer) {
  OperationPtr operation = prepare(file, access.direction, buffer);
  if (Outcome checked = check_pointer(*file, access.pointer); !checked.ok()) {
    fail(*operation, checked);
  }
  switch (access.pointer) {
    case Pointer::kExplicit:
      place_explicitly(*file, access.offset, *operation);
      break;
    case Pointer::kIndividual:
      operation->position = file->pointer().position();
      break;
    case Pointer::kShared:
      place_at_shared_pointer(*file, *operation);
      break;
  }
  check_place(*operation);
  return operation;
}

// Tells whether a collective access of one plain piece may pass the other ranks by.
bool may_pass(File& file, Direction direction, const PlainPiece& piece) {
  if (file.under_way().split() != nullptr) {
    return false;
  }
  return file.comm().size() == 1 || file.channel().kept.windows.may_pass(direction == Direction::kWrite, piece.file.size());
}

// Passes the other ranks, if there are any, by: the access may do so.
void pass_others(File& file, Direction direction, const PlainPiece& piece) {
  if (file.comm().size() > 1) {
    file.channel().kept.windows.pass(file.comm(), direction == Direction::kWrite, piece.file.size());
    access::count_transfer(file.trace().counters(), access::Method::kListIo, {}, file.comm().rank());
  }
}

// Most accesses need no description: see is_plain().
bool access_plainly(File& file, const Access& access, const UserBuffer& buffer, PlainResult& result) {
  if (access.pointer == Pointer::kShared || file.mode().is_sequential()) {
    return false;
  }
  // The pointer is this thread's only where it is meant.
  int64_t position = access.pointer == Pointer::kIndividual ? file.pointer().position() : 0;
  if (access.pointer == Pointer::kExplicit && !checked_multiply(access.offset, file.etype_bytes(), &position)) {
    return false;
  }
  PlainPiece piece;
  if (!is_plain(file, access.direction, position, buffer, piece)) {
    return false;
  }
  if (access.together == Together::kCollective) {
    if (!may_pass(file, access.direction, piece)) {
      return false;
    }
    pass_others(file, access.direction, piece);
  }
  result = move_plainly(file, access.direction, piece, access.together);
  if (access.pointer == Pointer::kIndividual) {
    file.pointer().move_behind(position, result.moved_bytes);
  }
  return true;
}

// Moves the individual pointer after a blocking access: behind the last etype that was touched.
void move_pointer(File& file, const Access& access, const Operation& operation) {
  if (access.pointer == Pointer::kIndividual) {
    file.pointer().move_behind(operation.position, operation.moved_bytes);
  }
}

// Does the same for an access whose outcome is not known yet: a read ends where the file ends now.
Outcome move_pointer_ahead(File& file, const Access& access, const Operation& operation) {
  if (access.pointer != Pointer::kIndividual) {
    return {};
  }
  int64_t bytes = operation.bytes;
  if (!operation.writes() && bytes > 0 && operation.view->is_sorted()) {
    int64_t file_bytes = 0;
    STRIA_MPIIO_RETURN_IF_ERROR(file.storage().size(file_bytes));
    bytes = std::clamp<int64_t>(operation.view->position_of(file_bytes) - operation.position, 0, bytes);
  }
  file.pointer().move_behind(file.pointer().position(), bytes);
  return {};
}

// ---- ordered

// Returns where this rank's part of an ordered access begins: behind those of the ranks before it.
// Collective: yes.
int64_t ordered_position(File& file, int64_t bytes) {
  Comm& comm = file.comm();
  SharedState& shared = file.shared();
  if (NodeMeeting* meeting = shared.meeting()) {
    const auto all = meeting->exchange(comm, std::span(&bytes, 1));
    const int64_t before = std::accumulate(all.begin(), all.begin() + comm.rank(), int64_t{0});
    const int64_t total = std::accumulate(all.begin(), all.end(), int64_t{0});
    const int64_t first = comm.rank() == 0 ? *shared.advance(total) : 0;
    return meeting->exchange(comm, std::span(&first, 1))[0] + before;
  }
  int64_t before = bytes;
  comm.exclusive_scan(std::span(&before, 1));
  std::array<int64_t, 1> total{bytes};
  comm.all_reduce(std::span<int64_t>(total), ReduceOp::kSum);
  int64_t first = comm.rank() == 0 ? *shared.advance(total[0]) : 0;
  comm.broadcast(std::as_writable_bytes(std::span(&first, 1)), 0);
  return first + before;
}

OperationPtr prepare_ordered(const std::shared_ptr<File>& file, Direction direction, const UserBuffer& buffer) {
  OperationPtr operation = prepare(file, direction, buffer);
  operation->position = ordered_position(*file, operation->bytes);
  check_place(*operation);
  return operation;
}

// Returns the outcome of an access before which staged writes have ended, one of which may have
// failed.
Outcome after_staged(const Outcome& own, const Outcome& staged) {
  return own.ok() ? staged : own;
}

// ---- split

Outcome check_no_split(const File& file) {
  if (file.under_way().split() != nullptr) {
    return {MPI_ERR_IO, fmt::format("'{}': another split collective is under way", file.path())};
  }
  return {};
}

Outcome begin(const std::shared_ptr<File>& file, const OperationPtr& operation) {
  file->under_way().set_split(start_job(operation, Together::kCollective, nullptr));
  return {};
}

}  // namespace

int access_now(MPI_File handle, const Access& access, const UserBuffer& buffer, MPI_Status* status, const char* call) {
  return in_call(call, handle, [&](const std::shared_ptr<File>& file) -> Outcome {
    const auto pointer = hold_pointer(*file, access);
    const Outcome staged = settle_staged(*file);
    if (PlainResult result; access_plainly(*file, access, buffer, result)) {
      set_status(status, result.moved_bytes);
      return after_staged(result.outcome, staged);
    }
    OperationPtr operation = prepare_at(file, access, buffer);
    if (access.together == Together::kCollective) {
      if (Outcome checked = check_no_split(*file); !checked.ok()) {
        return checked;
      }
      run_collective(*operation);
    } else {
      run_independent(*operation);
    }
    move_pointer(*file, access, *operation);
    set_status(status, operation->memory_bytes);
    return after_staged(operation->outcome, staged);
  });
}

int access_later(MPI_File handle, const Access& access, const UserBuffer& buffer, MPI_Request* request, const char* call) {
  *request = MPI_REQUEST_NULL;
  return in_call(call, handle, [&](const std::shared_ptr<File>& file) -> Outcome {
    const auto pointer = hold_pointer(*file, access);
    OperationPtr operation = prepare_at(file, access, buffer);
    if (!operation->outcome.ok() && access.together == Together::kIndependent) {
      return operation->outcome;
    }
    if (Outcome moved = move_pointer_ahead(*file, access, *operation); !moved.ok()) {
      fail(*operation, moved);
    }
    start_job(operation, access.together, request);
    return {};
  });
}

int access_ordered(MPI_File handle, Direction direction, const UserBuffer& buffer, MPI_Status* status, const char* call) {
  return in_call(call, handle, [&](const std::shared_ptr<File>& file) -> Outcome {
    if (Outcome checked = check_no_split(*file); !checked.ok()) {
      return checked;
    }
    const Outcome staged = settle_staged(*file);
    OperationPtr operation = prepare_ordered(file, direction, buffer);
    run_collective(*operation);
    set_status(status, operation->memory_bytes);
    return after_staged(operation->outcome, staged);
  });
}

int begin_split(MPI_File handle, const Access& access, const UserBuffer& buffer, const char* call) {
  return in_call(call, handle, [&](const std::shared_ptr<File>& file) -> Outcome {
    STRIA_MPIIO_RETURN_IF_ERROR(check_no_split(*file));
    const auto pointer = hold_pointer(*file, access);
    OperationPtr operation = prepare_at(file, access, buffer);
    if (Outcome moved = move_pointer_ahead(*file, access, *operation); !moved.ok()) {
      fail(*operation, moved);
    }
    return begin(file, operation);
  });
}

int begin_split_ordered(MPI_File handle, Direction direction, const UserBuffer& buffer, const char* call) {
  return in_call(call, handle, [&](const std::shared_ptr<File>& file) -> Outcome {
    STRIA_MPIIO_RETURN_IF_ERROR(check_no_split(*file));
    return begin(file, prepare_ordered(file, direction, buffer));
  });
}

int end_split(MPI_File handle, Direction direction, const void* address, MPI_Status* status, const char* call) {
  return in_call(call, handle, [&](const std::shared_ptr<File>& file) -> Outcome {
    if (file->under_way().split() == nullptr || file->under_way().split()->operation->direction != direction) {
      return {MPI_ERR_IO, fmt::format("'{}': no such split collective is under way", file->path())};
    }
    const std::shared_ptr<Job> job = file->under_way().take_split();
    wait_for_job(*job);
    Operation& operation = *job->operation;
    if (operation.memory != static_cast<const std::byte*>(address) && operation.outcome.ok()) {
      operation.outcome = {MPI_ERR_BUFFER, fmt::format("'{}': the buffer is not the one that was begun with", file->path())};
    }
    set_status(status, operation.memory_bytes);
    return agree(*file, operation.outcome);
  });
}

}  // namespace stria::mpiio
