// A driver with faults around any other: operations fail as a script says, before they reach the
// wrapped driver.
#pragma once

#include <memory>

#include "storage/driver.hpp"
#include "storage/fault/fault_script.hpp"
#include "storage/posix/calls/system_calls.hpp"

namespace stria::storage {

/// Wraps `driver`. Errors have the words that the wrapped driver would use. A write that fails
/// after a budget of bytes writes what the budget allows. start_write() counts as a write when it
/// starts; wait() reports its failure.
class FaultDriver : public Driver {
 public:
  /// `calls` is the table beneath `driver`, if it has one; it lives as long as any file
  /// of the driver.
  FaultDriver(std::shared_ptr<Driver> driver, std::shared_ptr<FaultScript> script,
              std::shared_ptr<SystemCalls> calls = nullptr);

  const char* name() const override { return driver_->name(); }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override;
  Result<Identity> identity(const std::string& path) override { return driver_->identity(path); }
  Result<NameInfo> name_info(const std::string& path) override;
  std::string follow_links(const std::string& path) override { return driver_->follow_links(path); }
  Result<Destination> find_destination(const std::string& path) override { return driver_->find_destination(path); }
  Status set_attributes(File& file, const FileAttributes& attributes) override {
    return driver_->set_attributes(file, attributes);
  }
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_link(const std::string& target, const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<std::vector<std::string>> list_directory(const std::string& directory) override;

 private:
  std::shared_ptr<SystemCalls> calls_;
  std::shared_ptr<Driver> driver_;
  std::shared_ptr<FaultScript> script_;
};

}  // namespace stria::storage
