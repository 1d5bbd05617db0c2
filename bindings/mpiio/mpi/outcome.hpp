// The outcome of a call of the MPI-IO interface: an MPI error class and the words that explain it.
//
// The engine uses Status. MPI programs look at error classes, of which there are more. An Outcome
// is made from either, and ranks agree on it as on a Status.
#pragma once

#include <mpi.h>

#include <new>
#include <string>
#include <utility>

#include "comm/comm.hpp"
#include "comm/node_meeting.hpp"
#include "stria/status.hpp"

namespace stria::mpiio {

class [[nodiscard]] Outcome {
 public:
  Outcome() = default;
  Outcome(int error_class, std::string message, ErrorReason reason = ErrorReason::kNone)
      : class_(error_class), reason_(reason), message_(std::move(message)) {}
  /// Takes the MPI class to which a failure of the engine belongs.
  Outcome(const Status& status);  // NOLINT: a status is an outcome

  bool ok() const { return class_ == MPI_SUCCESS; }
  int error_class() const { return class_; }
  ErrorReason reason() const { return reason_; }
  const std::string& message() const { return message_; }
  /// Returns the system's words for its error alone; the whole message where it was none of its.
  std::string system_words() const;

 private:
  int class_ = MPI_SUCCESS;
  ErrorReason reason_ = ErrorReason::kNone;
  std::string message_;
};

/// Returns an outcome with the words that `words` makes; without words where there is no memory for
/// them.
template <typename Words>
Outcome outcome_in_words(int error_class, const Words& words) noexcept {
  try {
    return {error_class, words()};
  } catch (const std::bad_alloc&) {
    return {error_class, std::string()};
  }
}

/// Returns the same outcome on every rank: success if all succeeded, else that of the lowest failed
/// rank, whose message then names the rank. `meeting` belongs to the ranks of `comm`, or is null.
/// Collective: yes. Cost without a failure: a meeting, or without `meeting` a reduction.
Outcome agree(Comm& comm, NodeMeeting* meeting, const Outcome& mine);

}  // namespace stria::mpiio

/// Returns early from the enclosing function when `expression`, an Outcome or a
/// Status, is an error.
#define STRIA_MPIIO_RETURN_IF_ERROR(expression)                                      \
  do {                                                                               \
    if (::stria::mpiio::Outcome stria_outcome_ = (expression); !stria_outcome_.ok()) \
      return stria_outcome_;                                                         \
  } while (false)
