// Any driver, with faults: operations fail as a script says, before they reach the wrapped driver.
#pragma once

#include <memory>

#include "storage/driver.hpp"
#include "storage/fault/fault_script.hpp"
#include "storage/posix/system_calls.hpp"

namespace stria::storage {

/// Wraps `driver`. Errors read as the wrapped driver's own would. A write that fails after a byte budget writes what the budget
/// allows. start_write() counts as a write, decided when it starts; its failure is reported by wait().
class FaultDriver : public Driver {
 public:
  /// `calls`, the table beneath `driver` if it has one, is kept as long as any file of the driver.
  FaultDriver(std::shared_ptr<Driver> driver, std::shared_ptr<FaultScript> script,
              std::shared_ptr<SystemCalls> calls = nullptr);

  const char* name() const override { return driver_->name(); }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override;
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override;
  Result<Identity> identity(const std::string& path) override { return driver_->identity(path); }
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Result<bool> exists(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<std::vector<std::string>> list_directory(const std::string& directory) override;

 private:
  std::shared_ptr<SystemCalls> calls_;
  std::shared_ptr<Driver> driver_;
  std::shared_ptr<FaultScript> script_;
};

}  // namespace stria::storage
