// Faults on demand: which storage operations fail, and how.
//
// Problem: a full disk, a dying device, a half-done call or a killed process must happen at a
// chosen place, in a unit test as well as in a real program under mpiexec.
// Method: a script is a list of rules. Every operation asks the script, which counts the operations
// that each rule is about and answers what should happen to this one.
//
// Grammar (also of the environment variable STRIA_FAULT), without spaces:
//   script    = rule *( ";" rule )
//   rule      = operation *( ":" condition ) ":" action *( ":" condition )
//   operation = a driver's or a file's:
//               "any" | "open" | "write" | "read" | "size" | "resize" | "preallocate"
//             | "sync" | "close" | "rename" | "remove" | "make_link" | "exists" | "sync_directory"
//             | "list_directory" | "lock",
//               or a system call of the posix and uring drivers:
//               "sys_open" | "sys_write" | "sys_read" | "sys_resize" | "sys_preallocate"
//             | "sys_sync" | "sys_close" | "sys_rename" | "sys_remove"
//   condition = "rank=" N                only in the process of that rank
//             | "nth=" N                 from the N-th such operation on (default 1, the first)
//             | "count=" N | "count=all" so many of them (default 1; "all" for "after=")
//             | "path=" TEXT             only files whose path contains TEXT
//             | "range=" BEGIN "-" END   only transfers that touch bytes [BEGIN, END) of the file
//             | "after=" BYTES           only once so many bytes were written; the write that
//                                        crosses this ends there (write, sys_write)
//   action    = "errno=" NAME-or-number  the operation fails: ENOSPC, EIO, EINTR (sys_ only) …
//             | "short=" BYTES           sys_write or sys_read transfers at most so many
//             | "delay_ms=" N            the operation takes so much longer
//             | "kill"                   the process gets SIGKILL before the operation
// Sizes may end in k, m or g (2^10, 2^20, 2^30). "any" matches the driver's and the files'
// operations, not the system calls.
// Example: STRIA_FAULT="write:rank=1:nth=3:errno=ENOSPC;sys_write:short=100:count=all"
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "stria/status.hpp"

namespace stria::storage {

enum class Operation {
  kOpen,
  kWrite,
  kRead,
  kSize,
  kResize,
  kPreallocate,
  kSync,
  kClose,
  kRename,
  kRemove,
  kMakeLink,
  kExists,
  kSyncDirectory,
  kListDirectory,
  kLock,
  kSysOpen,
  kSysWrite,
  kSysRead,
  kSysResize,
  kSysPreallocate,
  kSysSync,
  kSysClose,
  kSysRename,
  kSysRemove,
};

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

/// One rule, as in the grammar above.
struct FaultRule {
  enum class Action { kError, kShort, kDelay, kKill, kCallback };
  std::vector<Operation> operations;  ///< any of these
  int rank = -1;                      ///< -1: every rank
  int64_t nth = 1;
  int64_t count = 1;
  std::string path_part;
  ByteRange range{0, kUnlimited};
  int64_t after_bytes = -1;  ///< -1: no budget
  Action action = Action::kError;
  int error_number = 0;
  int64_t short_bytes = 0;
  int64_t delay_ms = 0;
  std::function<void()> callback;  ///< for kCallback, which scripts can't ask for, only programs
};

/// Says what an operation is about.
struct OperationPlace {
  const std::string& path;
  /// The ranges that a transfer moves. Empty for other operations, to which rules with a
  /// range don't apply.
  std::span<const ByteRange> ranges = {};
};

/// Says what shall happen to an operation: nothing special, or an error, possibly after a part of
/// the transfer.
struct FaultVerdict {
  int error_number = 0;
  int64_t allowed_bytes = kUnlimited;  ///< bytes of the transfer, before the error or the short end
};

/// This is thread-safe.
class FaultScript {
 public:
  /// Drops the rules for other ranks.
  FaultScript(std::vector<FaultRule> rules, int rank);
  /// kInvalidArgument says which part of the text is wrong, and why.
  static Result<std::shared_ptr<FaultScript>> parse(const std::string& text, int rank);

  /// Counts the operation and returns what shall happen to it. Delays, kills and callbacks
  /// happen inside.
  FaultVerdict decide(Operation operation, const OperationPlace& place);
  /// Returns the number of operations decided so far, without the sys_ ones: a test that fails each
  /// in turn goes through as many.
  int64_t operation_count() const;
  int64_t operation_count(Operation operation) const;

 private:
  struct Armed {
    FaultRule rule;
    int64_t matches = 0;
    int64_t bytes_seen = 0;
  };
  bool fires(Armed& armed, Operation operation, const OperationPlace& place, int64_t* allowed_bytes);

  mutable std::mutex mutex_;
  std::vector<Armed> rules_;
  std::vector<int64_t> counts_;
};

/// Returns the operation's word in scripts, for instance "sync_directory".
const char* operation_name(Operation operation);

}  // namespace stria::storage
