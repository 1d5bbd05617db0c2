// A disk for tests that may fill up, go read-only or lose its power: a file system in a file.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "server/cluster_test.hpp"

namespace stria::server::testing {

/// A small file system of its own, in a file, which can lose its power.
class Disk {
 public:
  explicit Disk(const std::string& kind) : kind_(kind), directory_(make_directory(scratch_directory())) {
    const int image = ::open(image_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const int64_t bytes = int64_t{kind == "xfs" ? 320 : 48} << 20;
    ok_ = ftruncate(image, bytes) == 0;
    ::close(image);
    std::filesystem::create_directory(path());
    ok_ = ok_ && shell((kind == "xfs" ? "mkfs.xfs -q -f " : "mkfs.ext4 -q -F -m 0 ") + image_path()) && mount_it();
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  ~Disk() {
    unmount();
    std::filesystem::remove_all(directory_);
  }

  bool ok() const { return ok_; }
  std::string path() const { return directory_ + "/mount"; }
  /// Nothing reaches the disk from now on. What has not reached it is lost when it is mounted
  /// again.
  bool lose_power() const {
    const int root = ::open(path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // XFS_FSOP_GOING_FLAGS_NOLOGFLUSH, which ext4 knows by the same number.
    uint32_t without_log = 2;
    const bool done = ioctl(root, _IOR('X', 125, uint32_t), &without_log) == 0;
    ::close(root);
    return done;
  }
  /// Writes back some of the files, as the system may at any time: data without their sums, and
  /// sums without their data.
  void write_back(std::mt19937_64& random) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
      if (entry.is_regular_file() && random() % 3 == 0) {
        const int file = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
        fsync(file);
        ::close(file);
      }
    }
  }
  bool mount_again() {
    unmount();
    return mount_it();
  }

 private:
  std::string image_path() const { return directory_ + "/image"; }
  static bool shell(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }
  bool mount_it() const { return shell("mount -o loop " + image_path() + " " + path()); }
  void unmount() const { shell("umount " + path()); }

  std::string kind_;
  std::string directory_;
  bool ok_ = false;
};

}  // namespace stria::server::testing
