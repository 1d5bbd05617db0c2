#include "storage/path.hpp"

#include <filesystem>
#include <system_error>

#include "wire/address.hpp"

namespace stria::storage {

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const bool is_absolute = path.empty() || path.front() == '/' || wire::is_store_path(path);
  return error || is_absolute ? path : (here / path).string();
}

}  // namespace stria::storage
