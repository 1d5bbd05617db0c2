#include "storage/fault/fault_driver.hpp"

#include <algorithm>
#include <utility>

#include "storage/fault/fault_file.hpp"
#include "storage/messages.hpp"

namespace stria::storage {

namespace {

/// Returns the error that the script has for an operation on names, or success.
Status decide(FaultScript& script, Operation operation, const std::string& path) {
  const FaultVerdict verdict = script.decide(operation, {path});
  return verdict.error_number == 0
             ? Status()
             : Status::from_errno(verdict.error_number, storage::describe(operation_name(operation), path));
}

}  // namespace

FaultDriver::FaultDriver(std::shared_ptr<Driver> driver, std::shared_ptr<FaultScript> script,
                         std::shared_ptr<SystemCalls> calls)
    : calls_(std::move(calls)), driver_(std::move(driver)), script_(std::move(script)) {}

Result<std::unique_ptr<File>> FaultDriver::open(const std::string& path, const OpenOptions& options) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kOpen, path));
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<File> file, driver_->open(path, options));
  return std::unique_ptr<File>(std::make_unique<FaultFile>(std::move(file), script_, calls_));
}

Result<std::unique_ptr<File>> FaultDriver::open_again(const File& file, const OpenOptions& options) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kOpen, file.path()));
  STRIA_ASSIGN_OR_RETURN(std::unique_ptr<File> again, driver_->open_again(file, options));
  return std::unique_ptr<File>(std::make_unique<FaultFile>(std::move(again), script_, calls_));
}

Result<NameInfo> FaultDriver::name_info(const std::string& path) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kExists, path));
  return driver_->name_info(path);
}

Status FaultDriver::rename(const std::string& from, const std::string& to) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kRename, from));
  return driver_->rename(from, to);
}

Status FaultDriver::remove(const std::string& path) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kRemove, path));
  return driver_->remove(path);
}

Status FaultDriver::make_link(const std::string& target, const std::string& path) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kMakeLink, path));
  return driver_->make_link(target, path);
}

Result<bool> FaultDriver::exists(const std::string& path) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kExists, path));
  return driver_->exists(path);
}

Status FaultDriver::sync_directory(const std::string& path) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kSyncDirectory, path));
  return driver_->sync_directory(path);
}

Result<std::vector<std::string>> FaultDriver::list_directory(const std::string& directory) {
  STRIA_RETURN_IF_ERROR(decide(*script_, Operation::kListDirectory, directory));
  return driver_->list_directory(directory);
}

}  // namespace stria::storage
