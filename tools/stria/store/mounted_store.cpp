#include "store/mounted_store.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "store/store_command.hpp"
#include "wire/quotas.hpp"

namespace stria::tool {

namespace {

using storage::OpenOptions;
using Mode = OpenOptions::Mode;

const MountedStore& mounted() {
  return *static_cast<const MountedStore*>(fuse_get_context()->private_data);
}

std::string url_of(const char* path) {
  return mounted().url + path;
}

MountedFile& open_file(const fuse_file_info* info) {
  return *reinterpret_cast<MountedFile*>(info->fh);
}

/// The system's number for an error.
int errno_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kOk:
      return 0;
    case ErrorCode::kInvalidArgument:
      return EINVAL;
    case ErrorCode::kNotFound:
      return ENOENT;
    case ErrorCode::kAlreadyExists:
      return EEXIST;
    case ErrorCode::kPermissionDenied:
      return EACCES;
    case ErrorCode::kReadOnly:
      return EROFS;
    case ErrorCode::kNoSpace:
      return ENOSPC;
    case ErrorCode::kUnsupported:
      return EOPNOTSUPP;
    case ErrorCode::kResourceExhausted:
      return ENOMEM;
    default:
      return EIO;
  }
}

int minus_errno(const Status& status) {
  return status.ok() ? 0 : wire::is_over_quota(status) ? -EDQUOT : -errno_of(status.code());
}

/// Returns what body() returns, or the number of the error that it throws.
template <typename Body>
int answer(Body body) {
  try {
    return body();
  } catch (const Error& error) {
    return -errno_of(error.code());
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  } catch (const std::exception&) {
    return -EIO;
  }
}

timespec time_of(int64_t ns) {
  return {static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
}

void describe(const wire::Attributes& attributes, const storage::FileState& state, struct stat* details) {
  std::memset(details, 0, sizeof *details);
  details->st_mode = (attributes.is_directory ? S_IFDIR : S_IFREG) | attributes.owner.mode;
  details->st_nlink = attributes.is_directory ? 2 : 1;
  details->st_uid = attributes.owner.uid;
  details->st_gid = attributes.owner.gid;
  details->st_size = state.bytes;
  details->st_blksize = static_cast<blksize_t>(std::max<int64_t>(attributes.place.stripe_bytes, 4096));
  details->st_blocks = (state.bytes + 511) / 512;
  details->st_mtim = time_of(std::max(state.modified_ns, attributes.created_ns));
  details->st_ctim = details->st_mtim;
  details->st_atim = details->st_mtim;
}

/// The kernel looks a name up before it does anything else with it.
bool has_long_name(std::string_view path) {
  return path.size() - (path.rfind('/') + 1) > wire::kMaxNameBytes;
}

int get_attributes(const char* path, struct stat* details, fuse_file_info* info) {
  if (has_long_name(path)) {
    return -ENAMETOOLONG;
  }
  if (info != nullptr && open_file(info).attributes(details)) {
    return 0;
  }
  return answer([&] {
    const std::string url = url_of(path);
    const uint64_t changes = mounted().files.changes();
    const wire::Attributes attributes = attributes_of(url);
    describe(attributes, attributes.is_directory ? storage::FileState() : state_of_file(url, attributes.place), details);
    if (!attributes.is_directory) {
      mounted().files.note_attributes(attributes.place.file, changes, details);
    }
    return 0;
  });
}

int read_directory(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*, fuse_readdir_flags) {
  return answer([&] {
    fill(buffer, ".", nullptr, 0, {});
    fill(buffer, "..", nullptr, 0, {});
    for (const wire::Listed::Entry& entry : entries_of(url_of(path))) {
      struct stat kind = {};
      kind.st_mode = entry.is_directory ? S_IFDIR : S_IFREG;
      if (fill(buffer, entry.name.c_str(), &kind, 0, {}) != 0) {
        return -ENOMEM;
      }
    }
    return 0;
  });
}

int open_as(const char* path, Mode mode, fuse_file_info* info) {
  return answer([&] {
    auto opened = mounted().files.open(mounted().driver, url_of(path), {.mode = mode});
    if (!opened.ok()) {
      return minus_errno(opened.status());
    }
    info->fh = reinterpret_cast<uint64_t>(opened->release());
    return 0;
  });
}

int open_existing(const char* path, fuse_file_info* info) {
  const bool writes = (info->flags & O_ACCMODE) != O_RDONLY;
  const int outcome = open_as(path, writes ? Mode::kReadWrite : Mode::kRead, info);
  if (outcome != 0 || (info->flags & O_TRUNC) == 0) {
    return outcome;
  }
  return answer([&] { return minus_errno(open_file(info).resize(0)); });
}

/// What is new belongs to who made it, where the mount's own user may give it away.
void give_to_maker(const std::string& url) {
  const fuse_context* const maker = fuse_get_context();
  if (maker->uid == geteuid() && maker->gid == getegid()) {
    return;
  }
  wire::SetOwnership change;
  change.uid = maker->uid;
  change.gid = maker->gid;
  try {
    set_ownership(url, change);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kPermissionDenied) {
      throw;
    }
  }
}

void set_mode(const std::string& url, mode_t mode) {
  wire::SetOwnership change;
  change.mode = mode & wire::kMaxMode;
  set_ownership(url, change);
}

int create(const char* path, mode_t mode, fuse_file_info* info) {
  const int outcome = open_as(path, (info->flags & O_EXCL) != 0 ? Mode::kCreateNew : Mode::kCreate, info);
  if (outcome != 0) {
    return outcome;
  }
  const int settled = answer([&] {
    const std::string url = url_of(path);
    set_mode(url, mode);
    give_to_maker(url);
    return 0;
  });
  if (settled != 0) {
    delete &open_file(info);
  }
  return settled;
}

int read_bytes(const char*, char* to, size_t bytes, off_t offset, fuse_file_info* info) {
  return answer([&] {
    const storage::ReadSegment segment{offset, reinterpret_cast<std::byte*>(to), static_cast<int64_t>(bytes)};
    const auto got = open_file(info).read({&segment, 1});
    return got.ok() ? static_cast<int>(*got) : minus_errno(got.status());
  });
}

int write_bytes(const char*, const char* from, size_t bytes, off_t offset, fuse_file_info* info) {
  return answer([&] {
    const storage::WriteSegment segment{offset, reinterpret_cast<const std::byte*>(from), static_cast<int64_t>(bytes)};
    const Status outcome = open_file(info).write({&segment, 1});
    return outcome.ok() ? static_cast<int>(bytes) : minus_errno(outcome);
  });
}

int truncate(const char* path, off_t bytes, fuse_file_info* info) {
  return answer([&] {
    if (info != nullptr) {
      return minus_errno(open_file(info).resize(bytes));
    }
    const auto file = mounted().files.open(mounted().driver, url_of(path), {.mode = Mode::kReadWrite});
    return minus_errno(file.ok() ? (*file)->resize(bytes) : file.status());
  });
}

int sync_file(const char*, int, fuse_file_info* info) {
  return answer([&] { return minus_errno(open_file(info).sync()); });
}

// Each close() of a program, and it gets the answer.
int flush(const char*, fuse_file_info* info) {
  return answer([&] { return minus_errno(open_file(info).flush()); });
}

int sync_directory(const char* path, int, fuse_file_info*) {
  return answer([&] { return minus_errno(mounted().driver.sync_directory(url_of(path))); });
}

int release(const char*, fuse_file_info* info) {
  return answer([&] {
    const std::unique_ptr<MountedFile> file(&open_file(info));
    return minus_errno(file->close());
  });
}

int remove_file(const char* path) {
  return answer([&] { return minus_errno(mounted().driver.remove(url_of(path))); });
}

int make_directory(const char* path, mode_t mode) {
  return answer([&] {
    const std::string url = url_of(path);
    const StoreFile directory = find_in_store(url);
    const wire::NewDirectory request{directory.path, static_cast<uint32_t>(mode & wire::kMaxMode)};
    directory.store->ask_manager(wire::Kind::kMakeDirectory, wire::encode(request)).status().throw_if_error();
    give_to_maker(url);
    return 0;
  });
}

int remove_directory(const char* path) {
  return answer([&] {
    const std::string url = url_of(path);
    return entries_of(url).empty() ? minus_errno(mounted().driver.remove(url)) : -ENOTEMPTY;
  });
}

/// Why what `target` names can't be replaced by `source`; 0 where it can. The store refuses it too,
/// but its errors have no such numbers.
int obstacle_to_replace(const std::string& source, const std::string& target) {
  const bool is_directory = attributes_of(target).is_directory;
  if (attributes_of(source).is_directory != is_directory) {
    return is_directory ? EISDIR : ENOTDIR;
  }
  return is_directory && !entries_of(target).empty() ? ENOTEMPTY : 0;
}

int rename(const char* from, const char* to, unsigned flags) {
  return answer([&] {
    if ((flags & RENAME_EXCHANGE) != 0) {
      return -EINVAL;
    }
    const std::string source = url_of(from);
    const std::string target = url_of(to);
    const auto exists = mounted().driver.exists(target);
    if (!exists.ok()) {
      return minus_errno(exists.status());
    }
    if (*exists && (flags & RENAME_NOREPLACE) != 0) {
      return -EEXIST;
    }
    if (const int obstacle = *exists ? obstacle_to_replace(source, target) : 0; obstacle != 0) {
      return -obstacle;
    }
    return minus_errno(mounted().driver.rename(source, target));
  });
}

int get_space(const char*, struct statvfs* space) {
  return answer([&] {
    std::memset(space, 0, sizeof *space);
    space->f_bsize = 4096;
    space->f_frsize = 4096;
    space->f_namemax = wire::kMaxNameBytes;
    const std::string& url = mounted().url;
    for (const auto& server : servers_of(find_in_store(url), url).servers) {
      space->f_blocks += static_cast<fsblkcnt_t>(server.total_bytes) / space->f_frsize;
      space->f_bfree += static_cast<fsblkcnt_t>(server.free_bytes) / space->f_frsize;
    }
    space->f_bavail = space->f_bfree;
    return 0;
  });
}

int change_mode(const char* path, mode_t mode, fuse_file_info*) {
  return answer([&] {
    mounted().files.settle();
    set_mode(url_of(path), mode);
    return 0;
  });
}

int change_owner(const char* path, uid_t uid, gid_t gid, fuse_file_info*) {
  return answer([&] {
    mounted().files.settle();
    wire::SetOwnership change;
    change.uid = uid == static_cast<uid_t>(-1) ? std::nullopt : std::optional(uid);
    change.gid = gid == static_cast<gid_t>(-1) ? std::nullopt : std::optional(gid);
    set_ownership(url_of(path), change);
    return 0;
  });
}

// Programs that copy a file set times last, and would take an error for a failed copy.
int ignore_times(const char*, const timespec*, fuse_file_info*) {
  return 0;
}

void* begin(fuse_conn_info* connection, fuse_config* config) {
  // Requests through a pipe cost two more calls of the system each, and bytes are copied anyway.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ);
  config->auto_cache = 1;
  config->attr_timeout = 1;
  config->entry_timeout = 1;
  config->negative_timeout = 0;
  // Each open compares time and size, and drops the kernel's bytes where they differ.
  config->ac_attr_timeout_set = 1;
  config->ac_attr_timeout = 0;
  mounted().files.start();
  return fuse_get_context()->private_data;
}

void end(void* store) {
  static_cast<const MountedStore*>(store)->files.stop();
}

}  // namespace

const fuse_operations& mounted_store_operations() {
  static const fuse_operations operations = [] {
    fuse_operations calls = {};
    calls.init = begin;
    calls.destroy = end;
    calls.getattr = get_attributes;
    calls.readdir = read_directory;
    calls.open = open_existing;
    calls.create = create;
    calls.read = read_bytes;
    calls.write = write_bytes;
    calls.truncate = truncate;
    calls.flush = flush;
    calls.fsync = sync_file;
    calls.fsyncdir = sync_directory;
    calls.release = release;
    calls.unlink = remove_file;
    calls.mkdir = make_directory;
    calls.rmdir = remove_directory;
    calls.rename = rename;
    calls.statfs = get_space;
    calls.chmod = change_mode;
    calls.chown = change_owner;
    calls.utimens = ignore_times;
    return calls;
  }();
  return operations;
}

}  // namespace stria::tool
