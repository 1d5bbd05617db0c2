#include "format/netcdf_lists.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "format/lists.hpp"

namespace stria::flash {

namespace {

constexpr const char* kCountName = "unknown_names";

// Attributes of one object, whose types tell the lists apart: logical values are int8.
template <typename Stored, typename Value>
void put_values(File& file, const char* variable, const std::vector<std::pair<std::string, Value>>& list) {
  for (const auto& [name, value] : list) {
    if constexpr (std::is_same_v<Value, std::string>) {
      file.set_attribute(variable, name, value);
    } else {
      file.set_attribute(variable, name, static_cast<Stored>(value));
    }
  }
}

/// The lists of one variable.
struct Lists {
  std::vector<std::pair<std::string, int64_t>>& integers;
  std::vector<std::pair<std::string, double>>& reals;
  std::vector<std::pair<std::string, std::string>>& strings;
  std::vector<std::pair<std::string, int64_t>>& logicals;
};

void get_values(File& file, const char* variable, const Lists& lists) {
  if (!file.has_dataset(variable)) {
    return;
  }
  for (const AttributeInfo& info : file.attributes(variable)) {
    if (info.type_name.starts_with("string")) {
      lists.strings.emplace_back(info.name, file.attribute<std::string>(variable, info.name));
    } else if (info.type_name.starts_with("float")) {
      lists.reals.emplace_back(info.name, file.attribute<double>(variable, info.name));
    } else {
      auto& list = info.type_name == "int8" ? lists.logicals : lists.integers;
      list.emplace_back(info.name, file.attribute<int64_t>(variable, info.name));
    }
  }
}

}  // namespace

void put_netcdf_lists(File& file, int format_version, const ScalarLists& lists, const std::vector<std::string>& names) {
  for (const char* variable : {kParametersVariable, kScalarsVariable}) {
    file.create_strings(variable, {" "}, 1, false);
  }
  put_values<int32_t>(file, kScalarsVariable, lists.integer_scalars);
  put_values<double>(file, kScalarsVariable, lists.real_scalars);
  put_values<std::string>(file, kScalarsVariable, lists.string_scalars);
  put_values<int8_t>(file, kScalarsVariable, lists.logical_scalars);
  put_values<int32_t>(file, kParametersVariable, lists.integer_parameters);
  put_values<double>(file, kParametersVariable, lists.real_parameters);
  put_values<std::string>(file, kParametersVariable, lists.string_parameters);
  put_values<int8_t>(file, kParametersVariable, lists.logical_parameters);
  file.set_attribute("/", "file_format_version", format_version);
  for (const InfoField& field : info_fields(lists.origin)) {
    std::string name = field.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    file.set_attribute("/", name, field.value);
  }
  file.set_attribute("/", kCountName, static_cast<int32_t>(names.size()));
  for (size_t i = 0; i < names.size(); ++i) {
    file.set_attribute("/", fmt::format("unknown_{}", i), names[i]);
  }
}

ScalarLists get_netcdf_lists(File& file) {
  ScalarLists lists;
  get_values(file, kScalarsVariable, {lists.integer_scalars, lists.real_scalars, lists.string_scalars, lists.logical_scalars});
  get_values(file, kParametersVariable,
             {lists.integer_parameters, lists.real_parameters, lists.string_parameters, lists.logical_parameters});
  return lists;
}

std::vector<std::string> get_netcdf_names(File& file) {
  std::vector<std::string> names;
  const auto count = file.attribute<int64_t>("/", kCountName);
  for (int64_t i = 0; i < count; ++i) {
    names.push_back(file.attribute<std::string>("/", fmt::format("unknown_{}", i)));
  }
  return names;
}

}  // namespace stria::flash
