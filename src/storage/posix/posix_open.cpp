// Opening: mode, lock and direct I/O, in the order that leaves no gap for another program.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "storage/messages.hpp"
#include "storage/path.hpp"
#include "storage/posix/file_system/file_system.hpp"
#include "storage/posix/file_system/remote_names.hpp"
#include "storage/posix/file_system/sharing.hpp"
#include "storage/posix/posix_file.hpp"

namespace stria::storage {

namespace {

// How often to look again when the locked file turns out to have lost its name between
// open and lock.
constexpr int kLockAttempts = 10;
// What an exclusive lock holds on NFS: the byte behind that of PosixLocks::keep_to_bytes().
constexpr int64_t kOwnerByte = (int64_t{1} << 62) - 1;

bool follows_links(const OpenOptions& options) {
  return !options.mine_only && !options.plain_only;
}

int open_flags(const OpenOptions& options) {
  const int flags = O_CLOEXEC | (options.direct ? O_DIRECT : 0) | (follows_links(options) ? 0 : O_NOFOLLOW);
  switch (options.mode) {
    case OpenOptions::Mode::kRead:
      return flags | O_RDONLY;
    case OpenOptions::Mode::kReadWrite:
      return flags | O_RDWR;
    case OpenOptions::Mode::kCreate:
      // A file that another program has locked must not be truncated, nor one that turns out to be
      // another's: truncation comes after the lock and the look.
      return flags | O_RDWR | O_CREAT | (options.exclusive_lock || options.plain_only ? 0 : O_TRUNC);
    case OpenOptions::Mode::kCreateNew:
      return flags | O_RDWR | O_CREAT | O_EXCL;
  }
  return flags;
}

const char* open_verb(const OpenOptions& options) {
  const bool creates = options.mode == OpenOptions::Mode::kCreate || options.mode == OpenOptions::Mode::kCreateNew;
  return creates ? "create" : "open";
}

int open_without_interruption(SystemCalls& calls, const std::string& path, const OpenOptions& options) {
  int descriptor = -1;
  do {
    descriptor = calls.open(path.c_str(), open_flags(options), options.permissions);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// Refuses a pipe: opening it would wait until another process writes to it, and it has neither a
/// size nor offsets. Refuses more where links aren't followed: opening a device may set it going.
Status refuse_special(const std::string& path, const OpenOptions& options) {
  struct stat found = {};
  if (!follows_links(options)) {
    const bool is_other = lstat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode);
    return is_other ? not_mine(open_verb(options), path) : Status();
  }
  const bool is_pipe = stat(path.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
  return is_pipe ? Status(ErrorCode::kInvalidArgument, describe("open", path) + ": it is a pipe, not a file") : Status();
}

Status open_error(const std::string& path, const OpenOptions& options, int error_number) {
  if (options.direct && error_number == EINVAL) {
    return Status(ErrorCode::kUnsupported, describe(open_verb(options), path) + ": this file system offers no direct I/O");
  }
  if (!follows_links(options) && error_number == ELOOP) {
    return not_mine(open_verb(options), path);
  }
  if (error_number == ESTALE) {
    const char* what = options.expected_number != 0
                           ? ": the name goes on meaning another file here than on the node that opened it first"
                           : ": the name goes on meaning a file here that another node has removed";
    return Status(ErrorCode::kIo, describe(open_verb(options), path) + what);
  }
  return Status::from_errno(error_number, describe(open_verb(options), path));
}

/// Tells whether the file system gives this owner to what this process makes beside `path`. Some
/// give all files to one user.
bool gives_files_to(SystemCalls& calls, const std::string& path, uid_t owner) {
  std::string name = directory_of(path) + "/.stria_owner_XXXXXX";
  const int made = mkostemp(name.data(), O_CLOEXEC);
  if (made < 0) {
    return false;
  }
  struct stat details = {};
  const bool is_so = calls.fstat(made, &details) == 0 && details.st_uid == owner;
  calls.close(made);
  calls.unlink(name.c_str());
  return is_so;
}

/// Does what OpenOptions::mine_only and plain_only ask for. The number of a file on a network was
/// compared before (remote_names.hpp).
Status check_plain(SystemCalls& calls, const std::string& path, int descriptor, const OpenOptions& options) {
  struct stat opened = {};
  if (calls.fstat(descriptor, &opened) != 0) {
    return open_error(path, options, errno);
  }
  const NameInfo info = info_of(opened);
  if (!info.is_plain_file || (options.mine_only && !info.is_mine && !gives_files_to(calls, path, opened.st_uid))) {
    return not_mine(open_verb(options), path);
  }
  const bool is_other = options.plain_only && options.expected_number != 0 && opened.st_ino != options.expected_number &&
                        is_node_local(calls.file_system(descriptor));
  return is_other ? open_error(path, options, ESTALE) : Status();
}

/// True while `path` still names the open file. A program that held the lock before may have
/// renamed or removed the file.
bool still_named(const std::string& path, const struct stat& opened) {
  struct stat named = {};
  return stat(path.c_str(), &named) == 0 && identity_of(named) == identity_of(opened);
}

/// Truncates a file unless it is empty already. ext4 takes a truncation to nothing as a sign that
/// the file is being replaced, and then writes all of it to the device when it is closed.
Status cut(SystemCalls& calls, const std::string& path, int descriptor) {
  struct stat opened = {};
  if (calls.fstat(descriptor, &opened) == 0 && opened.st_size == 0) {
    return {};
  }
  return calls.ftruncate(descriptor, 0) == 0 ? Status() : Status::from_errno(errno, describe("create", path));
}

/// A flock() on NFS locks the whole file, so that it excludes every lock of a range.
int lock_alone(SystemCalls& calls, int descriptor) {
  if (!sends_whole_pages(calls.file_system(descriptor))) {
    return calls.flock(descriptor, LOCK_EX | LOCK_NB);
  }
  struct flock where = {};
  where.l_type = F_WRLCK;
  where.l_whence = SEEK_SET;
  where.l_start = kOwnerByte;
  where.l_len = 1;
  return calls.lock_range(descriptor, F_OFD_SETLK, &where);
}

/// Locks the file of the descriptor. Sets `*stale` when the file has lost its name meanwhile.
Status lock(SystemCalls& calls, const std::string& path, int descriptor, bool* stale) {
  int result = 0;
  do {
    result = lock_alone(calls, descriptor);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    return errno == EWOULDBLOCK || errno == EACCES ? file_in_use(path) : Status::from_errno(errno, describe("lock", path));
  }
  struct stat opened = {};
  *stale = calls.fstat(descriptor, &opened) != 0 || !still_named(path, opened);
  return {};
}

/// This lock would keep out writers of this program, too, on NFS; there is none.
bool lock_beside_readers(SystemCalls& calls, int descriptor) {
  int result = 0;
  do {
    result = sends_whole_pages(calls.file_system(descriptor)) ? 0 : calls.flock(descriptor, LOCK_SH | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0 || errno != EWOULDBLOCK;
}

/// Removes a file that a killed program has left, so that a new one can have its name.
Status clear_name(SystemCalls& calls, const std::string& path, const OpenOptions& options) {
  OpenOptions left = options;
  left.mode = OpenOptions::Mode::kReadWrite;
  left.direct = false;
  STRIA_RETURN_IF_ERROR(refuse_special(path, left));
  const int descriptor = open_without_interruption(calls, path, left);
  if (descriptor < 0) {
    return errno == ENOENT ? Status() : open_error(path, left, errno);
  }
  bool stale = false;
  Status status = check_plain(calls, path, descriptor, left);
  status = status.ok() ? lock(calls, path, descriptor, &stale) : status;
  if (status.ok() && !stale && calls.unlink(path.c_str()) != 0 && errno != ENOENT) {
    status = open_error(path, options, errno);
  }
  calls.close(descriptor);
  return status;
}

/// Opens and locks; closes the descriptor after an error.
Result<int> open_locked(SystemCalls& calls, const std::string& path, const OpenOptions& asked) {
  OpenOptions options = asked;
  const bool makes_own = asked.mine_only && asked.mode == OpenOptions::Mode::kCreate;
  if (makes_own) {
    options.mode = OpenOptions::Mode::kCreateNew;
  }
  for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
    const int descriptor = open_without_interruption(calls, path, options);
    if (descriptor < 0 && makes_own && errno == EEXIST) {
      STRIA_RETURN_IF_ERROR(clear_name(calls, path, options));
      continue;
    }
    if (descriptor < 0) {
      return open_error(path, options, errno);
    }
    bool stale = false;
    // What was just made is this process's, whatever owner the file system gives it.
    Status locked = options.mine_only && !makes_own ? check_plain(calls, path, descriptor, options) : Status();
    if (locked.ok()) {
      locked = lock(calls, path, descriptor, &stale);
    }
    if (locked.ok() && !stale && options.mode == OpenOptions::Mode::kCreate) {
      locked = cut(calls, path, descriptor);
    }
    if (locked.ok() && !stale) {
      return descriptor;
    }
    calls.close(descriptor);
    STRIA_RETURN_IF_ERROR(locked);
  }
  return file_in_use(path);
}

/// Has ceph-fuse asked itself for every byte: it knows what others write, the page cache before it
/// only later. File systems in user space take direct I/O of any alignment.
void pass_late_cache(SystemCalls& calls, int descriptor) {
  const uint32_t magic = calls.file_system(descriptor);
  if (!is_node_local(magic) && find_sharing(descriptor, magic).hears_late) {
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_DIRECT);
  }
}

Result<std::unique_ptr<PosixFile>> make_file(SystemCalls& calls, const std::string& path, int descriptor,
                                             const OpenOptions& options) {
  auto file = std::make_unique<PosixFile>(calls, path, descriptor, options);
  if (options.direct && file->capabilities().direct_align_bytes == 0) {
    return open_error(path, options, EINVAL);
  }
  if (!file->capabilities().node_local_cache) {
    ask_for_size(descriptor);  // because reads stop where the system believes that the file ends
  }
  pass_late_cache(calls, descriptor);
  if (options.mode != OpenOptions::Mode::kRead && !options.direct && sends_whole_pages(calls.file_system(descriptor))) {
    STRIA_RETURN_IF_ERROR(file->locks().keep_to_bytes());
  }
  return file;
}

}  // namespace

Result<std::unique_ptr<PosixFile>> PosixFile::open(SystemCalls& calls, const std::string& path, const OpenOptions& options) {
  STRIA_RETURN_IF_ERROR(refuse_special(path, options));
  int descriptor = -1;
  if (options.exclusive_lock) {
    STRIA_ASSIGN_OR_RETURN(descriptor, open_locked(calls, path, options));
  } else {
    const auto open_once = [&] { return open_without_interruption(calls, path, options); };
    descriptor = open_expected(calls, path, options.expected_number, open_once);
    if (descriptor < 0) {
      return open_error(path, options, errno);
    }
  }
  STRIA_ASSIGN_OR_RETURN(auto file, make_file(calls, path, descriptor, options));
  if (!follows_links(options) && !options.exclusive_lock) {
    STRIA_RETURN_IF_ERROR(check_plain(calls, path, descriptor, options));
    STRIA_RETURN_IF_ERROR(options.mode == OpenOptions::Mode::kCreate ? cut(calls, path, descriptor) : Status());
  }
  if (options.beside_readers && !lock_beside_readers(calls, descriptor)) {
    return file_in_use(path);
  }
  return file;
}

Result<std::unique_ptr<PosixFile>> PosixFile::open_again(SystemCalls& calls, const File& other, const OpenOptions& options) {
  const auto* file = dynamic_cast<const PosixFile*>(&other.plain());
  STRIA_RETURN_IF_ERROR(check_open_again(other, file != nullptr, options));
  if (!file->opened().is_open()) {
    return closed_file("open", file->path());
  }
  const int descriptor = open_without_interruption(calls, file->opened().own_path(), options);
  if (descriptor < 0) {
    return open_error(file->path(), options, errno);
  }
  return make_file(calls, file->path(), descriptor, options);
}

}  // namespace stria::storage
