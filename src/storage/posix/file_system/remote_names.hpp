// Finds files that another node has changed, created or renamed a moment ago.
//
// Problem: NFS and most FUSE file systems keep names, sizes and contents of remote files in each
// node's memory for a while, commonly a second. Opening a file discards the cached content, but not
// always the meaning of the name and the file's length. So a node that opens a file which another
// node has just created or renamed may get the file that had the name before, or a length that is
// no longer true.
// Method: the rank that opens first tells the others the file's number. A node that finds another
// number, or no file, makes the system look up the name again, by two calls that change nothing.
// Opening the directory makes NFS look at the server. Linking the directory to the name always
// fails, but only after an exclusive look-up, which FUSE passes on. Sizes are asked for by statx()
// with AT_STATX_FORCE_SYNC.
// Cost: one system call for each open and each size on such storage; more only where a node
// remembered wrongly.
#pragma once

#include <string>

#include "storage/driver.hpp"
#include "storage/posix/calls/system_calls.hpp"
#include "stria/status.hpp"

namespace stria::storage {

/// Makes the system ask the storage what `path` means now.
void look_up_anew(const std::string& path);
/// Makes the system ask the storage how long the open file is now.
void ask_for_size(int descriptor);

/// Says whether a descriptor that open_once() gave is that of the expected file. The number 0
/// stands for any file that still has a name.
enum class Found { kExpected, kOther, kUnsure };
Found compare_number(int descriptor, uint64_t expected_number);
/// Waits a little before the next look-up of the name; false when it has been tried
/// for long enough.
bool may_look_again(int attempt);

/// Calls `open_once()`, which returns a descriptor, or -1 with an errno. Repeats it until the
/// descriptor is that of the file with this number (0: of a file that no other node has removed),
/// or until the node has had time to notice. Returns the last descriptor, or -1 with ESTALE when it
/// is surely that of another file.
template <typename OpenOnce>
int open_expected(SystemCalls& calls, const std::string& path, uint64_t expected_number, OpenOnce open_once) {
  for (int attempt = 0;; ++attempt) {
    const int descriptor = open_once();
    const int error_number = descriptor < 0 ? errno : ESTALE;
    const Found found = descriptor < 0 ? Found::kOther : compare_number(descriptor, expected_number);
    const bool is_done = found == Found::kExpected || (found == Found::kUnsure && attempt > 0) ||
                         (descriptor < 0 && (expected_number == 0 || (error_number != ENOENT && error_number != ESTALE)));
    if (is_done) {
      errno = error_number;
      return descriptor;
    }
    if (descriptor >= 0) {
      calls.close(descriptor);
    }
    if (!may_look_again(attempt)) {
      errno = error_number;
      return -1;
    }
    look_up_anew(path);
  }
}

}  // namespace stria::storage
