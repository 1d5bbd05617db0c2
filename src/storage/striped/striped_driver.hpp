// Files of a store that `stria serve` keeps, by paths stria://SERVER/PATH (docs/servers.md).
//
// Problem: one disk is too small or too slow, and there is no parallel file system.
// Method: a file's stripes lie on many servers, which are asked at the same time. A request names
// all its ranges, and each server finds those that are its own.
// Cost: each request takes one message per server, with up to 32,768 ranges. No server knows the
// size of a file, so that asking for it takes a message to every server.
// Durability: sync() returns once every server of the file has its bytes on disk, and the manager
// the file's name.
#pragma once

#include <memory>
#include <string>

#include "storage/driver.hpp"

namespace stria::storage {

class StripedDriver : public Driver {
 public:
  const char* name() const override { return "striped"; }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override;
  Result<Identity> identity(const std::string& path) override;
  Result<NameInfo> name_info(const std::string& path) override;
  Result<Destination> find_destination(const std::string& path) override;
  Status set_attributes(File& file, const FileAttributes& attributes) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<std::vector<std::string>> list_directory(const std::string& directory) override;
};

}  // namespace stria::storage
