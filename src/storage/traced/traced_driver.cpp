#include "storage/traced/traced_driver.hpp"

#include <algorithm>
#include <utility>

#include "storage/traced/traced_file.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::storage {

namespace {

using trace::BuiltIn;
using trace::Span;

class TracedDriver final : public Driver {
 public:
  explicit TracedDriver(std::shared_ptr<Driver> driver) : driver_(std::move(driver)) {}

  const char* name() const override { return driver_->name(); }

  Result<std::unique_ptr<File>> open(const std::string& path, const OpenOptions& options) override {
    return traced(path, [&] { return driver_->open(path, options); });
  }
  Result<std::unique_ptr<File>> open_again(const File& file, const OpenOptions& options) override {
    return traced(file.path(), [&] { return driver_->open_again(file, options); });
  }
  Result<Identity> identity(const std::string& path) override { return driver_->identity(path); }
  Result<NameInfo> name_info(const std::string& path) override { return driver_->name_info(path); }
  std::string follow_links(const std::string& path) override { return driver_->follow_links(path); }
  Result<Destination> find_destination(const std::string& path) override { return driver_->find_destination(path); }
  Status set_attributes(File& file, const FileAttributes& attributes) override {
    const Span span(trace::kind(BuiltIn::kStorageName));
    return driver_->set_attributes(file, attributes);
  }
  Status rename(const std::string& from, const std::string& to) override {
    const Span span(trace::kind(BuiltIn::kStorageName));
    return driver_->rename(from, to);
  }
  Status remove(const std::string& path) override {
    const Span span(trace::kind(BuiltIn::kStorageName));
    return driver_->remove(path);
  }
  Status make_link(const std::string& target, const std::string& path) override {
    const Span span(trace::kind(BuiltIn::kStorageName));
    return driver_->make_link(target, path);
  }
  Result<bool> exists(const std::string& path) override { return driver_->exists(path); }
  Status sync_directory(const std::string& path) override {
    const Span span(trace::kind(BuiltIn::kStorageName));
    return driver_->sync_directory(path);
  }
  Result<std::vector<std::string>> list_directory(const std::string& directory) override {
    return driver_->list_directory(directory);
  }

 private:
  template <typename Open>
  static Result<std::unique_ptr<File>> traced(const std::string& path, const Open& open) {
    if (!trace::is_counting()) {
      return open();
    }
    const uint16_t about = trace::ring().file;
    const uint16_t id = about != 0 ? about : trace::Recorder::instance().file(path);
    trace::FileSpan span(trace::kind(BuiltIn::kStorageOpen), id);
    STRIA_ASSIGN_OR_RETURN(std::unique_ptr<File> file, open());
    return std::unique_ptr<File>(std::make_unique<TracedFile>(std::move(file), id));
  }

  std::shared_ptr<Driver> driver_;
};

}  // namespace

std::shared_ptr<Driver> make_traced_driver(std::shared_ptr<Driver> driver) {
  return std::make_shared<TracedDriver>(std::move(driver));
}

}  // namespace stria::storage
