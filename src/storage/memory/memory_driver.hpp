// Files in the memory of the process: for tests, for simulated ranks, and as a model of what a
// power loss leaves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "storage/driver.hpp"

namespace stria::storage {

struct MemoryInode;

/// Keeps named files in memory. Paths are opaque names. Every directory exists; it holds the names
/// that lie directly in it. Thread-safe, even between several handles on one file.
class MemoryDriver : public Driver {
 public:
  struct Options {
    /// Remember what sync() and sync_directory() have made durable, so that crash() can drop the
    /// rest. Each sync then copies the page table.
    bool track_unsynced = false;
  };
  MemoryDriver();
  explicit MemoryDriver(const Options& options);
  ~MemoryDriver() override;

  const char* name() const override { return "memory"; }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override;
  Result<Identity> identity(const std::string& path) override;
  Result<NameInfo> name_info(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  std::string follow_links(const std::string& path) override;
  Status make_link(const std::string& target, const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<std::vector<std::string>> list_directory(const std::string& directory) override;

  /// The power fails. Names and bytes that were not synced are lost; with a seed, each page of
  /// unsynced bytes and each directory's unsynced names survive at random. Open handles fail from
  /// now on. \pre options.track_unsynced
  void crash(std::optional<uint64_t> seed = std::nullopt);

 private:
  using Names = std::map<std::string, std::shared_ptr<MemoryInode>>;
  using Links = std::map<std::string, std::string>;
  /// Returns where a name leads that is a link; links to links are followed no further.
  const std::string& followed(const std::string& path) const;
  Result<std::shared_ptr<MemoryInode>> find_or_make(const std::string& path, const OpenOptions& options);

  const Options options_;
  std::mutex mutex_;
  Names names_;
  Names durable_names_;
  Links links_;
  Links durable_links_;
};

}  // namespace stria::storage
