// Writes to one file through an io_uring. Several are under way at once, and short ones
// are continued.
#pragma once

#include <liburing.h>

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "storage/lists/runs.hpp"
#include "storage/posix/calls/system_calls.hpp"
#include "stria/status.hpp"

namespace stria::storage {

/// Makes the error of a failed transfer from its offset, size and errno.
using TransferError = std::function<Status(int64_t offset, int64_t bytes, int error_number)>;

/// A list on its way. It is finished when every run is written, or when one has failed and
/// none is under way.
struct WriteBatch {
  RunList list;
  size_t unfinished = 0;  ///< runs neither written nor given up
  Status outcome;         ///< the outcome of the first failure
  bool finished() const { return unfinished == 0; }
};

/// Isn't thread-safe. Runs that don't fit the ring are submitted as earlier ones complete, in each
/// call of progress().
class TransferEngine {
 public:
  /// kUnsupported when the kernel (or its policy) offers no io_uring.
  static Result<std::unique_ptr<TransferEngine>> make(SystemCalls& calls, int descriptor, TransferError error);
  TransferEngine(const TransferEngine&) = delete;
  TransferEngine& operator=(const TransferEngine&) = delete;
  /// Waits for all writes first.
  ~TransferEngine();

  /// Begins to write the batch, which must stay until it is finished.
  void start(WriteBatch& batch);
  /// Handles the completions that are there. With `wait` it blocks until there is one. Returns at
  /// once when nothing is under way.
  void progress(bool wait);
  void finish(const WriteBatch& batch);
  void finish_all();

 private:
  struct Transfer;
  using Transfers = std::list<Transfer>;
  struct Transfer {
    WriteBatch* batch = nullptr;
    int64_t offset = 0;  ///< the offset of what remains
    int64_t bytes = 0;
    std::span<iovec> pieces;
    /// Submitted instead of `pieces` when a test asks for a short write.
    std::vector<iovec> shortened;
    Transfers::iterator place;  ///< in its list
  };
  TransferEngine(SystemCalls& calls, int descriptor, TransferError error);
  void submit();
  int prepare(Transfer& transfer);
  void complete(Transfer& transfer, int result);
  void give_up(Transfers& from, Transfer& transfer, int error_number);
  static void end(Transfers& from, Transfer& transfer);

  SystemCalls& calls_;
  int descriptor_;
  TransferError error_;
  io_uring ring_{};
  // Transfers go from list to list without an allocation, so that none is lost when memory is.
  Transfers waiting_;
  Transfers under_way_;
};

}  // namespace stria::storage
