// The driver for the operating system's files and names.
#pragma once

#include <memory>

#include "storage/driver.hpp"
#include "storage/posix/calls/system_calls.hpp"

namespace stria::storage {

class PosixDriver : public Driver {
 public:
  /// `calls` must outlive the driver and every file of it.
  explicit PosixDriver(SystemCalls& calls = real_system_calls()) : calls_(calls) {}

  const char* name() const override { return "posix"; }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override;
  Result<Identity> identity(const std::string& path) override;
  Result<NameInfo> name_info(const std::string& path) override;
  std::string follow_links(const std::string& path) override;
  Result<Destination> find_destination(const std::string& path) override;
  Status set_attributes(File& file, const FileAttributes& attributes) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_link(const std::string& target, const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<std::vector<std::string>> list_directory(const std::string& directory) override;

 protected:
  SystemCalls& calls() const { return calls_; }

 private:
  SystemCalls& calls_;
};

}  // namespace stria::storage
