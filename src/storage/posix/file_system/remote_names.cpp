#include "storage/posix/file_system/remote_names.hpp"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "storage/path.hpp"
#include "storage/posix/file_system/sharing.hpp"

namespace stria::storage {

namespace {

// The attempts take about five seconds. A file system keeps names for longer only when its settings
// say so.
constexpr int kAttempts = 100;
constexpr long kPauseNanoseconds = 50'000'000;
constexpr int kAttemptsWithoutPause = 2;

}  // namespace

void look_up_anew(const std::string& path) {
  const std::string directory = directory_of(path);
  if (const int opened = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); opened >= 0) {
    ::close(opened);
  }
  static_cast<void>(::link(directory.c_str(), path.c_str()));
}

void ask_for_size(int descriptor) {
#ifdef SYS_statx
  struct statx details = {};
  static_cast<void>(
      syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE | STATX_NLINK, &details));
#endif
}

// A file without a name on local storage is one that the program asked for, through /proc for
// instance. FUSE file systems may give a file another number on each node; other network file
// systems don't.
Found compare_number(int descriptor, uint64_t expected_number) {
  struct stat details = {};
  struct statfs system = {};
  if (fstatfs(descriptor, &system) != 0 || is_node_local(static_cast<uint32_t>(system.f_type))) {
    return Found::kExpected;
  }
  ask_for_size(descriptor);  // This also brings the number of names.
  if (fstat(descriptor, &details) != 0 || details.st_ino == expected_number) {
    return Found::kExpected;
  }
  if (expected_number == 0) {
    return details.st_nlink == 0 ? Found::kOther : Found::kExpected;
  }
  const bool surely = details.st_nlink == 0 || has_common_numbers(static_cast<uint32_t>(system.f_type));
  return surely ? Found::kOther : Found::kUnsure;
}

bool may_look_again(int attempt) {
  if (attempt >= kAttemptsWithoutPause) {
    const timespec pause{0, kPauseNanoseconds};
    nanosleep(&pause, nullptr);
  }
  return attempt < kAttempts;
}

}  // namespace stria::storage
