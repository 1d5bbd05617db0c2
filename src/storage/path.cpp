#include "storage/path.hpp"

#include <filesystem>
#include <system_error>

#include "storage/rados/rados_path.hpp"
#include "wire/address.hpp"

namespace stria::storage {

bool is_remote_path(std::string_view path) {
  return wire::is_store_path(path) || is_rados_path(path);
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const bool is_absolute = path.empty() || path.front() == '/' || is_remote_path(path);
  return error || is_absolute ? path : (here / path).string();
}

}  // namespace stria::storage
