// Files that another node has changed, created or renamed a moment ago.
//
// Problem: NFS and most FUSE file systems keep names, sizes and contents of remote files in each node's memory for a while,
// commonly a second. Opening a file throws away the content, not always what the name meant and how long the file was: a node
// that opens by name what another has just created or renamed may get the file that had the name before, and read past an end
// that is no more. Method: who opens first tells the others the file's number; a node that finds another one, or no file, has
// the system ask for the name again, by two calls that change nothing (opening the directory, which NFS takes as the moment to
// look at the server; and linking the directory to the name, which always fails but only after an exclusive look-up, which FUSE
// passes on). Sizes are asked for by statx() with AT_STATX_FORCE_SYNC. Cost: one system call for each opening and size on such
// storage; more only where a node remembered wrongly.
#pragma once

#include <string>

#include "storage/driver.hpp"
#include "storage/posix/system_calls.hpp"
#include "stria/status.hpp"

namespace stria::storage {

/// Has the system ask the storage what `path` means now.
void look_up_anew(const std::string& path);
/// Has the system ask the storage how long the open file is now.
void ask_for_size(int descriptor);

/// What to do about a descriptor that open_once() gave. A number of 0 is any that still has a name.
enum class Found { kExpected, kOther, kUnsure };
Found compare_number(int descriptor, uint64_t expected_number);
/// Waits a little before the name is looked up again; false when that has been done for long enough.
bool may_look_again(int attempt);

/// Calls `open_once()`, which returns a descriptor or -1 and an errno, until the descriptor is that of the file with this
/// number (0: of one that no other node has removed) or the node has had time to notice. Returns the last descriptor; -1 with
/// ESTALE when it is surely another file.
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
