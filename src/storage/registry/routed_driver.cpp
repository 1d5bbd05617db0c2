#include "storage/registry/routed_driver.hpp"

#include <utility>

#include "storage/messages.hpp"
#include "storage/path.hpp"
#include "storage/rados/rados_driver.hpp"
#include "storage/striped/striped_driver.hpp"
#include "wire/address.hpp"

namespace stria::storage {

namespace {

class RoutedDriver final : public Driver {
 public:
  explicit RoutedDriver(std::shared_ptr<Driver> local)
      : local_(std::move(local)), striped_(std::make_shared<StripedDriver>()), rados_(make_rados_driver()) {}

  const char* name() const override { return local_->name(); }
  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("open", path));
    return driver->open(path, options);
  }
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("open", file.path()));
    return driver->open_again(file, options);
  }
  Result<Identity> identity(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("look up", path));
    return driver->identity(path);
  }
  Result<NameInfo> name_info(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("look up", path));
    return driver->name_info(path);
  }
  std::string follow_links(const std::string& path) override {
    const auto driver = driver_of("look up", path);
    return driver.ok() ? (*driver)->follow_links(path) : path;
  }
  Result<Destination> find_destination(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("look up", path));
    return driver->find_destination(path);
  }
  Status set_attributes(File& file, const FileAttributes& attributes) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("set attributes of", file.path()));
    return driver->set_attributes(file, attributes);
  }
  Status rename(const std::string& from, const std::string& to) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("rename", from));
    STRIA_ASSIGN_OR_RETURN(const auto other, driver_of("rename", to));
    if (driver != other) {
      return Status(ErrorCode::kUnsupported,
                    describe("rename", from) + " to '" + to + "': they are in different kinds of storage");
    }
    return driver->rename(from, to);
  }
  Status remove(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("remove", path));
    return driver->remove(path);
  }
  Status make_link(const std::string& target, const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("make a link", path));
    return driver->make_link(target, path);
  }
  Result<bool> exists(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("look up", path));
    return driver->exists(path);
  }
  Status sync_directory(const std::string& path) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("sync directory", path));
    return driver->sync_directory(path);
  }
  Result<std::vector<std::string>> list_directory(const std::string& directory) override {
    STRIA_ASSIGN_OR_RETURN(const auto driver, driver_of("list", directory));
    return driver->list_directory(directory);
  }

 private:
  Result<std::shared_ptr<Driver>> driver_of(const char* operation, const std::string& path) const {
    if (is_rados_path(path)) {
      return rados_.ok() ? rados_ : rados_.status().with_context(describe(operation, path));
    }
    return wire::is_store_path(path) ? striped_ : local_;
  }

  std::shared_ptr<Driver> local_;
  std::shared_ptr<Driver> striped_;
  Result<std::shared_ptr<Driver>> rados_;
};

}  // namespace

std::shared_ptr<Driver> make_routed_driver(std::shared_ptr<Driver> local) {
  return std::make_shared<RoutedDriver>(std::move(local));
}

}  // namespace stria::storage
