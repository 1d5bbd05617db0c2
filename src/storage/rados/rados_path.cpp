#include "storage/rados/rados_path.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "storage/path.hpp"
#include "wire/address.hpp"

namespace stria::storage {

namespace {

constexpr std::string_view kPrefix = "rados://";
// An object's name has at most 2048 bytes.
constexpr size_t kMaxDirectoryBytes = 1500;

std::string joined(const std::string& directory, const std::string& name) {
  return (directory == "/" ? "" : directory) + "/" + name;
}

}  // namespace

Result<RadosPath> RadosPath::parse(std::string_view text) {
  const std::string_view rest = text.substr(std::min(text.size(), kPrefix.size()));
  const size_t end = std::min(rest.find('/'), rest.size());
  RadosPath path{std::string(rest.substr(0, end)), "/", ""};
  if (!is_rados_path(text) || path.pool.empty()) {
    return Status(ErrorCode::kInvalidArgument, "'" + std::string(text) + "' names no pool: write rados://POOL/PATH");
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<std::string> parts, wire::split_path(rest.substr(end)));
  for (const std::string& part : parts) {
    path.directory = path.as_directory();
    path.name = part;
  }
  if (path.directory.size() > kMaxDirectoryBytes) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("'{}': a directory's path may have {} bytes", text, kMaxDirectoryBytes));
  }
  return path;
}

std::string RadosPath::as_directory() const {
  return name.empty() ? directory : joined(directory, name);
}

std::string hexadecimal(uint64_t number) {
  return fmt::format("{:016x}", number);
}

uint64_t from_hexadecimal(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::string directory_object(const std::string& directory) {
  return "names:" + directory;
}

std::string header_object(uint64_t file) {
  return "file." + hexadecimal(file);
}

std::string locks_object(uint64_t file) {
  return "locks." + hexadecimal(file);
}

std::string data_object(uint64_t file, int64_t index) {
  return fmt::format("data.{:016x}.{:08x}", file, index);
}

}  // namespace stria::storage
