#include "container/netcdf/form/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace stria::container::netcdf {

namespace {

constexpr std::string_view kRowTables = "rows_";
constexpr std::array<std::string_view, 4> kOwnTables = {"datasets", "placement", "slabs", "seal"};

bool names_own_table(std::string_view name) {
  if (std::find(kOwnTables.begin(), kOwnTables.end(), name) != kOwnTables.end()) {
    return true;
  }
  const std::string_view number = name.substr(std::min(kRowTables.size(), name.size()));
  return name.starts_with(kRowTables) && !number.empty() &&
         std::all_of(number.begin(), number.end(), [](char digit) { return digit >= '0' && digit <= '9'; });
}

}  // namespace

bool is_own(const std::string& path) {
  return path.starts_with(kOwnPrefix);
}

std::string path_of(const std::string& variable) {
  const std::string_view prefix = kOwnVariablePrefix;
  if (variable.starts_with(prefix) && names_own_table(std::string_view(variable).substr(prefix.size()))) {
    return kOwnPrefix + variable.substr(prefix.size());
  }
  return variable;
}

Result<std::string> variable_of(const std::string& path) {
  if (is_own(path)) {
    return kOwnVariablePrefix + path.substr(std::string_view(kOwnPrefix).size());
  }
  if (path.find('/') != std::string::npos) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("'{}': a classic netCDF file has no groups; use a name without '/', or HDF5", path));
  }
  STRIA_RETURN_IF_ERROR(check_name("dataset", path));
  if (path_of(path) != path) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("dataset '{}': the library keeps its checksums under this name", path));
  }
  return path;
}

Status check_name(const std::string& what, const std::string& name) {
  const auto refused = [&](const std::string& why) {
    return Status(ErrorCode::kInvalidArgument,
                  fmt::format("{} '{}' can't have this name in a netCDF file: {}", what, name, why));
  };
  if (name.empty() || name.size() > kLongestNameBytes) {
    return refused(fmt::format("it has {} bytes, 1 to {} are allowed", name.size(), kLongestNameBytes));
  }
  const auto is_special = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/'; };
  if (std::any_of(name.begin(), name.end(), is_special)) {
    return refused("it has a '/' or a control character");
  }
  const char first = name.front();
  const bool begins_well = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || (first >= '0' && first <= '9') ||
                           first == '_' || static_cast<unsigned char>(first) >= 0x80;
  if (!begins_well) {
    return refused("it begins with neither a letter, a digit nor '_'");
  }
  return name.back() == ' ' ? refused("it ends with a blank") : Status();
}

}  // namespace stria::container::netcdf
