#include "storage/path.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

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

namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

}  // namespace

std::string path_as_name(std::string_view path) {
  std::string name;
  for (const char c : path) {
    name += is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return name;
}

std::optional<std::string> path_of_name(std::string_view name) {
  std::string path;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      path += name[i];
    } else if (i + 2 < name.size()) {
      path += static_cast<char>(std::strtol(std::string(name.substr(i + 1, 2)).c_str(), nullptr, 16));
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  const bool is_whole_path = path.starts_with('/') || is_remote_path(path);
  return is_whole_path && path_as_name(path) == name ? std::optional(path) : std::nullopt;
}

}  // namespace stria::storage
