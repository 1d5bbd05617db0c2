#include "stria/paths.hpp"

#include "file/background/staging_place.hpp"
#include "file/parts/part_names.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"

namespace stria {

bool is_store_path(const std::string& path) {
  return storage::is_remote_path(path);
}

bool path_exists(const std::string& path) {
  return storage::make_driver("posix").value()->exists(path).value();
}

std::vector<std::string> list_directory(const std::string& directory) {
  return storage::make_driver("posix").value()->list_directory(directory).value();
}

std::vector<std::string> list_staged(const std::string& place) {
  return file::staged_files(*storage::make_driver("posix").value(), place).value();
}

void remove_file(const std::string& path) {
  file::remove_with_parts(*storage::make_driver("posix").value(), path).throw_if_error();
}

}  // namespace stria
