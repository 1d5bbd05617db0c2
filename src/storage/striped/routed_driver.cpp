#include "storage/striped/routed_driver.hpp"

#include <utility>

#include "storage/messages.hpp"
#include "storage/striped/striped_driver.hpp"
#include "wire/address.hpp"

namespace stria::storage {

namespace {

class RoutedDriver final : public Driver {
 public:
  explicit RoutedDriver(std::shared_ptr<Driver> local) : local_(std::move(local)) {}

  const char* name() const override { return local_->name(); }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override {
    return driver(path).open(path, options);
  }
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override {
    return driver(file.path()).open_again(file, options);
  }
  Result<Identity> identity(const std::string& path) override { return driver(path).identity(path); }
  Status rename(const std::string& from, const std::string& to) override {
    if (wire::is_store_path(from) != wire::is_store_path(to)) {
      return Status(ErrorCode::kUnsupported, describe("rename", from) + " to '" + to + "': only one of them is in a store");
    }
    return driver(from).rename(from, to);
  }
  Status remove(const std::string& path) override { return driver(path).remove(path); }
  Result<bool> exists(const std::string& path) override { return driver(path).exists(path); }
  Status sync_directory(const std::string& path) override { return driver(path).sync_directory(path); }
  Result<std::vector<std::string>> list_directory(const std::string& directory) override {
    return driver(directory).list_directory(directory);
  }

 private:
  Driver& driver(const std::string& path) { return wire::is_store_path(path) ? static_cast<Driver&>(striped_) : *local_; }

  std::shared_ptr<Driver> local_;
  StripedDriver striped_;
};

}  // namespace

std::shared_ptr<Driver> make_routed_driver(std::shared_ptr<Driver> local) {
  return std::make_shared<RoutedDriver>(std::move(local));
}

}  // namespace stria::storage
