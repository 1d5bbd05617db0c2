// The bytes of a mounted store's open files: small writes are gathered, and reads fetched ahead, in
// memory that all programs of this machine share.
//
// Problem: each call of the kernel became a request to a server, and each question for a file's
// size, which the kernel asks after every write, one to the manager and to all of its servers.
// Method: handles of one file share its bytes (storage/small/small_requests.hpp). What is written
// goes to the servers when there is enough of it, after kLongestKept, when the file is synced, cut
// or closed. What is fetched is used for kLifetime, as long as the kernel keeps attributes. For as
// long an open file's attributes are answered from memory, with what was written here since. After
// its mode, owner or times have changed, only the manager is asked for them again.
// Errors that come late are told by every handle's next write, fsync and close.
// Cost: one copy of each byte, and memory up to a limit.
#pragma once

#include <sys/stat.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "storage/driver.hpp"
#include "storage/striped/file_state.hpp"

namespace stria::tool {

class MountedFiles;
struct SharedBytes;

inline bool is_later(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/// True for the bits of a file's mode that a write by a user takes away.
inline bool has_privileges(mode_t mode) {
  return (mode & S_ISUID) != 0 || (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
}
/// Returns the mode without them.
inline mode_t without_privileges(mode_t mode) {
  return mode & ~static_cast<mode_t>((mode & S_IXGRP) != 0 ? S_ISUID | S_ISGID : S_ISUID);
}

/// An open file of a program. Any thread; lists of one piece are gathered.
class MountedFile final : public storage::File {
 public:
  MountedFile(std::shared_ptr<SharedBytes> shared, std::unique_ptr<storage::File> file, MountedFiles& files);
  MountedFile(const MountedFile&) = delete;
  MountedFile& operator=(const MountedFile&) = delete;
  ~MountedFile() override;

  const std::string& path() const override { return file_->path(); }
  const storage::Capabilities& capabilities() const override { return file_->capabilities(); }
  Result<storage::Identity> identity() override { return file_->identity(); }
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override;
  Status write(std::span<const storage::WriteSegment> segments) override;
  Result<int64_t> size() override;
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  /// Hands all that is kept of the file to the servers, and tells what failed since this handle
  /// last told.
  Status flush();
  /// Does the same, and all survives a power loss.
  Status sync() override;
  /// Call it once, and nothing after it.
  Status close() override;
  /// Gives what the file's attributes are, where that is known without a request.
  bool attributes(struct stat* details);
  /// True unless it is known that neither set-user-ID nor set-group-ID is among the file's bits.
  bool may_have_privileges();

 private:
  Status tell();

  std::shared_ptr<SharedBytes> shared_;
  std::unique_ptr<storage::File> file_;
  MountedFiles& files_;
  uint64_t told_;  // how many of the late errors
};

/// All open files of a mount.
class MountedFiles {
 public:
  /// What is written goes to the servers after so long.
  static constexpr std::chrono::milliseconds kLongestKept{1000};
  /// Bytes and attributes that were fetched earlier are fetched again.
  static constexpr std::chrono::milliseconds kLifetime{1000};

  /// `rest` is called on another thread soon after files were written or closed.
  MountedFiles(int64_t cache_bytes, std::function<void()> rest) : cache_bytes_(cache_bytes), rest_(std::move(rest)) {}
  MountedFiles(const MountedFiles&) = delete;
  MountedFiles& operator=(const MountedFiles&) = delete;
  ~MountedFiles() { stop(); }

  /// Begins to write what has been kept for long; not before the process has gone to the
  /// background.
  void start();
  /// Writes all that is kept.
  void stop();

  Result<std::unique_ptr<MountedFile>> open(storage::Driver& driver, const std::string& url,
                                            const storage::OpenOptions& options);
  /// Takes a file that is open.
  Result<std::unique_ptr<MountedFile>> add(std::unique_ptr<storage::File> file, bool writes);
  /// Says how often files were written or cut here, and how often a mode or an owner was changed.
  struct Changes {
    uint64_t files = 0;
    uint64_t modes = 0;
  };
  /// Ask it before the servers, for note_attributes().
  Changes changes() const { return {changes_.load(), mode_changes_.load()}; }
  /// The servers have told these attributes of a file: adds what is kept of it here. An open file's
  /// are used again for kLifetime, if no file has changed since `before`.
  void note_attributes(uint64_t number, const Changes& before, struct stat* details);
  /// The servers have told this of an open file's bytes, if no file has changed since `before`.
  void note_state(uint64_t number, const Changes& before, const storage::FileState& state);
  /// Returns what they told of them less than kLifetime ago, if nothing was written here since.
  std::optional<storage::FileState> told_state(uint64_t number);
  /// The manager has told this mode of a file.
  void note_mode(uint64_t number, const Changes& before, mode_t mode);
  /// Writes all that is kept, and uses no attributes that were noted: to be called before
  /// attributes are changed, because bytes that came later would change times again.
  void settle();
  /// Uses no attributes that were noted: to be called after attributes or names have changed.
  void forget_attributes();
  /// Does the same to what is known of modes. Must be called after a mode or an owner has changed.
  void forget_modes();

 private:
  friend class MountedFile;
  std::shared_ptr<SharedBytes> find(uint64_t number);
  std::vector<std::shared_ptr<SharedBytes>> all();
  /// Something is kept, or was closed: there is something to do before long.
  void note_kept();
  void run();

  int64_t cache_bytes_;
  std::function<void()> rest_;
  std::atomic<uint64_t> changes_{0};
  std::atomic<uint64_t> mode_changes_{0};
  std::mutex mutex_;
  std::map<uint64_t, std::weak_ptr<SharedBytes>> files_;
  std::condition_variable changed_;
  bool ends_ = false;
  bool has_kept_ = false;
  std::thread writer_;
};

}  // namespace stria::tool
