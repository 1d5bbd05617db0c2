// A store as a file system of this machine, by FUSE: each call of the kernel becomes one or a few
// requests to the store's servers.
//
// The kernel caches attributes for a second, and a file's bytes until the file is opened again and
// has changed. What programs write in small pieces is gathered (mounted_data.hpp). The store's
// servers see one user, who mounted it; the kernel compares owner, group and mode with the user who
// asks.
// Cost: a look-up asks the manager, and every server of a file for its size, all at the same time.
// A directory's names are looked up by thousands at once, and the kernel gets their attributes with
// them. A new file costs two requests to the manager: the kernel's look-up, and one that makes it
// and tells its attributes and its directory's. Files that are closed are given up many at a time.
#pragma once

#define FUSE_USE_VERSION 35
#include <fuse3/fuse.h>
#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "storage/driver.hpp"
#include "storage/striped/store.hpp"
#include "store/mounted_data.hpp"

namespace stria::tool {

/// Things of which something was noted a moment ago. Thread-safe.
template <typename Thing>
class RecentlyNoted {
 public:
  explicit RecentlyNoted(std::chrono::milliseconds lasts) : lasts_(lasts) {}
  void note(const Thing& thing) {
    const std::lock_guard lock(mutex_);
    noted_[thing] = Clock::now();
  }
  std::set<Thing> now() {
    const std::lock_guard lock(mutex_);
    std::erase_if(noted_, [&](const auto& each) { return Clock::now() - each.second > lasts_; });
    std::set<Thing> things;
    for (const auto& [thing, when] : noted_) {
      things.insert(thing);
    }
    return things;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::milliseconds lasts_;
  std::mutex mutex_;
  std::map<Thing, Clock::time_point> noted_;
};

/// Says how often each file is open, by its number, and when it was closed. Thread-safe.
class OpenNumbers {
 public:
  using Clock = std::chrono::steady_clock;
  void add(uint64_t number, int count) {
    const std::lock_guard lock(mutex_);
    if ((counts_[number] += count) == 0) {
      counts_.erase(number);
      closed_[number] = Clock::now();
      if (closed_.size() >= enough_) {
        std::erase_if(closed_, [](const auto& each) { return Clock::now() - each.second > kRemembered; });
        enough_ = 2 * closed_.size() + kFew;
      }
    }
  }
  bool has(uint64_t number) {
    const std::lock_guard lock(mutex_);
    return counts_.contains(number);
  }
  /// True where the file is open, or was after `since`, which is at most kRemembered ago.
  bool has_had(uint64_t number, Clock::time_point since) {
    const std::lock_guard lock(mutex_);
    const auto closed = closed_.find(number);
    return counts_.contains(number) || (closed != closed_.end() && closed->second >= since);
  }

 private:
  static constexpr std::chrono::seconds kRemembered{10};
  static constexpr size_t kFew = 64;
  std::mutex mutex_;
  std::map<uint64_t, int> counts_;
  std::map<uint64_t, Clock::time_point> closed_;
  size_t enough_ = kFew;  // the number from which on those closed long ago are forgotten
};

/// Attributes of directories as the manager told them with what was made there a moment ago: the
/// kernel asks for them again before it makes the next name. Thread-safe.
class ToldDirectories {
 public:
  /// Must be called before the manager is asked, for note().
  uint64_t changes() {
    const std::lock_guard lock(mutex_);
    return changes_;
  }
  /// Notes what was told, unless something has changed here since `changes_before`.
  void note(const std::string& path, uint64_t changes_before, const struct stat& details);
  std::optional<struct stat> find(const std::string& path);
  /// Must be called after the mode, the owner or the times of what has that path have changed.
  void forget(const std::string& path) {
    const std::lock_guard lock(mutex_);
    ++changes_;
    told_.erase(path);
  }
  /// Must be called after anything else was changed.
  void forget() {
    const std::lock_guard lock(mutex_);
    ++changes_;
    told_.clear();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Told {
    struct stat details = {};
    Clock::time_point when;
  };
  static constexpr std::chrono::milliseconds kLasts{100};
  static constexpr size_t kMost = 64;
  std::mutex mutex_;
  uint64_t changes_ = 0;
  std::map<std::string, Told> told_;
};

/// The kernel believes for so long what it was told of a file.
inline constexpr std::chrono::milliseconds kAttributesLast{1000};

/// The callbacks find it by fuse_get_context().
struct MountedStore {
  std::string url;  ///< url of the store's directory that is the root, without a slash at its end
  storage::Driver& driver;
  MountedFiles& files;
  std::shared_ptr<storage::Store> store;
  std::string root = {};  ///< the path of that directory in the store; empty: the store's own root
  /// Nobody else changes files: the kernel keeps what is written, and believes its own sizes.
  bool alone = false;
  /// Servers that didn't answer: a look-up doesn't wait for them again so soon.
  RecentlyNoted<std::string> silent{std::chrono::seconds(5)};
  /// Files that were said to have the bytes of which some servers know, because others didn't
  /// answer. Nobody may read them as if that were all, for as long as the kernel may believe it.
  RecentlyNoted<uint64_t> doubtful{kAttributesLast + std::chrono::milliseconds(100)};
  /// The kernel leaves it to the mount to take set-user-ID and set-group-ID from files that users
  /// write, and doesn't ask for the file's capabilities before each write.
  bool takes_privileges = false;
  OpenNumbers open_files = {};
  ToldDirectories directories = {};
};

/// Returns the table of calls. The private data of the file system is a MountedStore.
const fuse_operations& mounted_store_operations();

}  // namespace stria::tool
