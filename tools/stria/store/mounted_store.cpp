#include "store/mounted_store.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "storage/striped/made_file.hpp"
#include "store/mounted_calls.hpp"
#include "store/mounted_session.hpp"

namespace stria::tool {

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

namespace {

using storage::OpenOptions;
using Mode = OpenOptions::Mode;

/// An open file. Its calls come from many threads.
struct OpenFile {
  explicit OpenFile(std::unique_ptr<MountedFile> opened) : file(std::move(opened)), number(file->identity().value().number) {
    open_files.add(number, 1);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { open_files.add(number, -1); }

  std::unique_ptr<MountedFile> file;
  uint64_t number;
  OpenNumbers& open_files = mounted().open_files;
  std::atomic<bool> is_new = false;  // nobody has asked for its attributes since it was made
  std::optional<ToldState> told;     // what was told as it was made
};

OpenFile& open_file(const fuse_file_info* info) {
  return *reinterpret_cast<OpenFile*>(info->fh);
}

int open_as(const char* path, const OpenOptions& options, fuse_file_info* info) {
  return answer([&] {
    auto opened = mounted().files.open(mounted().driver, url_of(path), options);
    if (!opened.ok()) {
      return minus_errno(opened.status());
    }
    auto file = std::make_unique<OpenFile>(std::move(*opened));
    info->fh = reinterpret_cast<uint64_t>(file.release());
    return 0;
  });
}

/// Does, after open_as(), what else belongs to it, and closes the file again where that fails.
template <typename Body>
int settle(fuse_file_info* info, Body body) {
  const int settled = answer([&] {
    body();
    return 0;
  });
  if (settled != 0) {
    delete &open_file(info);
  }
  return settled;
}

int open_existing(const char* path, fuse_file_info* info) {
  const bool writes = (info->flags & (O_ACCMODE | O_TRUNC)) != O_RDONLY;
  if (writes && mounted().alone && has_several_names(path)) {
    return -EROFS;
  }
  if (const int outcome = open_as(path, {.mode = writes ? Mode::kReadWrite : Mode::kRead}, info); outcome != 0) {
    return outcome;
  }
  return settle(info, [&] {
    check_size_is_known(path, open_file(info).number);
    if ((info->flags & O_TRUNC) != 0) {
      open_file(info).file->resize(0).throw_if_error();
      note_cut(path);
    }
  });
}

int make_file(const char* path, uint32_t permissions, fuse_file_info* info) {
  const MountedFiles::Changes before = mounted().files.changes();
  const uint64_t changes_of_directories = mounted().directories.changes();
  auto made = Result<storage::MadeFile>(Status(ErrorCode::kUnsupported, ""));
  const int outcome = answer([&] {
    made = storage::make_in_store(mounted().store, url_of(path), name_of(path).path, permissions);
    return minus_errno(made.status());
  });
  if (made.status().code() == ErrorCode::kUnsupported) {  // a manager of the version before
    mounted().directories.forget();
    return open_as(path, {.mode = Mode::kCreateNew, .permissions = permissions}, info);
  }
  if (outcome != 0) {
    return outcome;
  }
  return answer([&] {
    const size_t slash = std::string_view(path).rfind('/');
    mounted().directories.note(std::string(path, std::max<size_t>(slash, 1)), changes_of_directories,
                               described(made->directory, {}));
    auto file = std::make_unique<OpenFile>(mounted().files.add(std::move(made->file), true).value());
    file->told = ToldState{std::move(made->state), before};
    info->fh = reinterpret_cast<uint64_t>(file.release());
    return 0;
  });
}

// The kernel has looked for the name just before. A file that another client has made since is
// opened as it is, and not cut.
int create(const char* path, mode_t mode, fuse_file_info* info) {
  const int outcome = make_file(path, mode & wire::kMaxMode, info);
  if (outcome == -EEXIST && (info->flags & O_EXCL) == 0) {
    return open_existing(path, info);
  }
  if (outcome != 0) {
    return outcome;
  }
  open_file(info).is_new = true;
  return settle(info, [&] {
    if (give_to_maker(path)) {
      open_file(info).told.reset();
    }
  });
}

int read_bytes(const char*, char* to, size_t bytes, off_t offset, fuse_file_info* info) {
  return answer([&] {
    const storage::ReadSegment segment{offset, reinterpret_cast<std::byte*>(to), static_cast<int64_t>(bytes)};
    const auto got = open_file(info).file->read({&segment, 1});
    return got.ok() ? static_cast<int>(*got) : minus_errno(got.status());
  });
}

int write_bytes(const char* path, const char* from, size_t bytes, off_t offset, fuse_file_info* info) {
  return answer([&] {
    if (mounted().takes_privileges && is_asked_by_a_user() && open_file(info).file->may_have_privileges()) {
      take_privileges(path);
    }
    const storage::WriteSegment segment{offset, reinterpret_cast<const std::byte*>(from), static_cast<int64_t>(bytes)};
    const Status outcome = open_file(info).file->write({&segment, 1});
    return outcome.ok() ? static_cast<int>(bytes) : minus_errno(outcome);
  });
}

int truncate(const char* path, off_t bytes, fuse_file_info* info) {
  return answer([&] {
    if (info != nullptr) {
      open_file(info).file->resize(bytes).throw_if_error();
    } else if (mounted().alone && has_several_names(path)) {
      return -EROFS;
    } else {
      auto opened = mounted().files.open(mounted().driver, url_of(path), {.mode = Mode::kReadWrite});
      opened.status().throw_if_error();
      const OpenFile file(std::move(*opened));
      file.file->resize(bytes).throw_if_error();
    }
    note_cut(path);
    return 0;
  });
}

int sync_file(const char*, int, fuse_file_info* info) {
  return answer([&] { return minus_errno(open_file(info).file->sync()); });
}

// Each close() of a program, and it gets the answer.
int flush(const char*, fuse_file_info* info) {
  return answer([&] { return minus_errno(open_file(info).file->flush()); });
}

int sync_directory(const char* path, int, fuse_file_info*) {
  return answer([&] { return minus_errno(mounted().driver.sync_directory(url_of(path))); });
}

int release(const char*, fuse_file_info* info) {
  return answer([&] {
    const std::unique_ptr<OpenFile> file(&open_file(info));
    return minus_errno(file->file->close());
  });
}

void* begin(fuse_conn_info* connection, fuse_config* config) {
  // Requests through a pipe cost two more calls of the system each, and bytes are copied anyway.
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_SPLICE_READ);
  mounted().takes_privileges = leaves_privileges(connection);
  if (mounted().alone && (connection->capable & FUSE_CAP_WRITEBACK_CACHE) != 0) {
    // What the kernel has of a file holds until it forgets the file.
    connection->want |= FUSE_CAP_WRITEBACK_CACHE;
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA);
    config->kernel_cache = 1;
  } else {
    mounted().alone = false;
    config->auto_cache = 1;
  }
  config->use_ino = 1;
  config->attr_timeout = 1;
  // Each is asked about by its name in any case; so this only spares look-ups before a file is
  // opened or removed.
  config->entry_timeout = 10;
  config->negative_timeout = 0;
  // Each open compares time and size, and drops the kernel's bytes where they differ.
  config->ac_attr_timeout_set = 1;
  config->ac_attr_timeout = 0;
  mounted().files.start();
  return fuse_get_context()->private_data;
}

void end(void* store) {
  static_cast<MountedStore*>(store)->files.stop();
}

}  // namespace

bool is_asked_for_the_first_time(const fuse_file_info* info) {
  return open_file(info).is_new.exchange(false);
}

const std::optional<ToldState>& told_when_made(const fuse_file_info* info) {
  return open_file(info).told;
}

void ToldDirectories::note(const std::string& path, uint64_t changes_before, const struct stat& details) {
  const std::lock_guard lock(mutex_);
  if (changes_ != changes_before) {
    return;
  }
  if (told_.size() >= kMost) {
    told_.clear();
  }
  Told& told = told_[path];
  if (is_later(details.st_ctim, told.details.st_ctim)) {  // others make files there too
    told = {details, Clock::now()};
  }
}

std::optional<struct stat> ToldDirectories::find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = told_.find(path);
  const bool holds = found != told_.end() && Clock::now() - found->second.when <= kLasts;
  return holds ? std::optional(found->second.details) : std::nullopt;
}

bool has_kept_attributes(const fuse_file_info* info, struct stat* details) {
  return open_file(info).file->attributes(details);
}

const fuse_operations& mounted_store_operations() {
  static const fuse_operations operations = [] {
    fuse_operations calls = {};
    calls.init = begin;
    calls.destroy = end;
    add_name_calls(calls);
    add_directory_calls(calls);
    calls.open = open_existing;
    calls.create = create;
    calls.read = read_bytes;
    calls.write = write_bytes;
    calls.truncate = truncate;
    calls.flush = flush;
    calls.fsync = sync_file;
    calls.fsyncdir = sync_directory;
    calls.release = release;
    return calls;
  }();
  return operations;
}

}  // namespace stria::tool
