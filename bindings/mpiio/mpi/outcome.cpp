#include "mpiio/mpi/outcome.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <vector>

namespace stria::mpiio {

namespace {

int class_of_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return MPI_SUCCESS;
    case ErrorCode::kInvalidArgument:
      return MPI_ERR_ARG;
    case ErrorCode::kNotFound:
      return MPI_ERR_NO_SUCH_FILE;
    case ErrorCode::kAlreadyExists:
      return MPI_ERR_FILE_EXISTS;
    case ErrorCode::kPermissionDenied:
      return MPI_ERR_ACCESS;
    case ErrorCode::kReadOnly:
      return MPI_ERR_READ_ONLY;
    case ErrorCode::kNoSpace:
      return MPI_ERR_NO_SPACE;
    case ErrorCode::kUnsupported:
      return MPI_ERR_UNSUPPORTED_OPERATION;
    case ErrorCode::kResourceExhausted:
      return MPI_ERR_NO_MEM;
    case ErrorCode::kInternal:
      return MPI_ERR_INTERN;
    default:
      return MPI_ERR_IO;
  }
}

// Returns the class of an error whose code alone would have another: MPI has several classes where
// ErrorCode has one value.
int class_of(const Status& status) {
  switch (static_cast<int>(status.reason())) {
    case static_cast<int>(ErrorReason::kOverQuota):
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case ENAMETOOLONG:
    case EISDIR:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ETXTBSY:
    case EBUSY:
      return MPI_ERR_FILE_IN_USE;
    default:
      return class_of_code(status.code());
  }
}

struct Wire {
  int32_t error_class;
  ErrorReason reason;
  int32_t length;
};

// Returns the failure of `root` on every rank. Collective: yes.
Outcome broadcast(Comm& comm, const Outcome& failure, int root) {
  Wire wire{failure.error_class(), failure.reason(), static_cast<int32_t>(failure.message().size())};
  comm.broadcast(std::as_writable_bytes(std::span(&wire, 1)), root);
  std::string text = comm.rank() == root ? failure.message() : std::string(static_cast<size_t>(wire.length), ' ');
  comm.broadcast(std::as_writable_bytes(std::span(text)), root);
  return {wire.error_class, comm.size() > 1 ? said_by(root, text) : text, wire.reason};
}

}  // namespace

Outcome::Outcome(const Status& status) : class_(class_of(status)), reason_(status.reason()), message_(status.message()) {}

std::string Outcome::system_words() const {
  const bool is_the_systems = ErrorReason::kNone < reason_ && reason_ < ErrorReason::kMoveIsOver;
  return is_the_systems ? std::generic_category().message(static_cast<int>(reason_)) : message_;
}

Outcome agree(Comm& comm, NodeMeeting* meeting, const Outcome& mine) {
  constexpr int64_t kNobody = std::numeric_limits<int64_t>::max();
  int64_t lowest_failed = mine.ok() ? kNobody : comm.rank();
  if (meeting != nullptr) {
    const auto all = meeting->exchange(comm, std::span(&lowest_failed, 1));
    lowest_failed = *std::min_element(all.begin(), all.end());
  } else {
    comm.all_reduce(std::span(&lowest_failed, 1), ReduceOp::kMin);
  }
  return lowest_failed == kNobody ? Outcome() : broadcast(comm, mine, static_cast<int>(lowest_failed));
}

}  // namespace stria::mpiio
