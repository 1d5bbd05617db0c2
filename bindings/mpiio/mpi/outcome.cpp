#include "mpiio/mpi/outcome.hpp"

#include <algorithm>
#include <array>
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

// MPI has several classes where ErrorCode has one. The system's words, at the end of the message
// (Status::from_errno), tell them apart.
int class_of_system_words(const std::string& message) {
  struct Finer {
    int error_number;
    int error_class;
  };
  static constexpr std::array<Finer, 6> kFiner{{{EDQUOT, MPI_ERR_QUOTA},
                                                {ENAMETOOLONG, MPI_ERR_BAD_FILE},
                                                {EISDIR, MPI_ERR_BAD_FILE},
                                                {ELOOP, MPI_ERR_BAD_FILE},
                                                {ETXTBSY, MPI_ERR_FILE_IN_USE},
                                                {EBUSY, MPI_ERR_FILE_IN_USE}}};
  for (const Finer& finer : kFiner) {
    if (message.ends_with(": " + std::generic_category().message(finer.error_number))) {
      return finer.error_class;
    }
  }
  return MPI_SUCCESS;
}

struct Wire {
  int32_t error_class;
  int32_t length;
};

// Returns the failure of `root` on every rank. Collective: yes.
Outcome broadcast(Comm& comm, const Outcome& failure, int root) {
  Wire wire{failure.error_class(), static_cast<int32_t>(failure.message().size())};
  comm.broadcast(std::as_writable_bytes(std::span(&wire, 1)), root);
  std::string text = comm.rank() == root ? failure.message() : std::string(static_cast<size_t>(wire.length), ' ');
  comm.broadcast(std::as_writable_bytes(std::span(text)), root);
  return {wire.error_class, comm.size() > 1 ? said_by(root, text) : text};
}

}  // namespace

Outcome::Outcome(const Status& status) : class_(class_of_code(status.code())), message_(status.message()) {
  if (!status.ok()) {
    const int finer = class_of_system_words(message_);
    class_ = finer == MPI_SUCCESS ? class_ : finer;
  }
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
