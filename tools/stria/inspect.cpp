// stria inspect: what is in a file, for people, or as JSON for programs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "command.hpp"
#include "folded.hpp"
#include "format/flash_file.hpp"
#include "format/lists.hpp"
#include "stria/file.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

const char* shown_format(Format format) {
  constexpr const char* kNames[] = {"", "HDF5", "netCDF", "netCDF CDF-1", "netCDF CDF-2", "netCDF CDF-5"};
  return kNames[static_cast<size_t>(format)];
}

std::string shape_text(const std::vector<int64_t>& dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, " x "));
}

// Returns the value of an attribute: a number, bool or string, a complex number as a pair, the path
// of what it refers to, or a list of them; null for other types.
json attribute_value(File& file, const std::string& object, const AttributeInfo& info) {
  json values;
  const auto is = [&](std::string_view prefix) { return info.type_name.starts_with(prefix); };
  if (is("float32")) {
    values = file.attribute<std::vector<float>>(object, info.name);
  } else if (is("float")) {
    values = file.attribute<std::vector<double>>(object, info.name);
  } else if (is("uint")) {
    values = file.attribute<std::vector<uint64_t>>(object, info.name);
  } else if (is("int")) {
    values = file.attribute<std::vector<int64_t>>(object, info.name);
  } else if (is("string")) {
    values = file.attribute<std::vector<std::string>>(object, info.name);
  } else if (is("bool")) {
    for (const uint8_t value : file.attribute<std::vector<uint8_t>>(object, info.name)) {
      values.push_back(value != 0);
    }
  } else if (is("complex")) {
    for (const std::complex<double>& value : file.attribute<std::vector<std::complex<double>>>(object, info.name)) {
      values.push_back({value.real(), value.imag()});
    }
  } else if (is("reference")) {
    for (const Reference& value : file.attribute<std::vector<Reference>>(object, info.name)) {
      values.push_back(value.path);
    }
  }
  return info.dims.empty() && values.size() == 1 ? values[0] : values;
}

// Damage to an attribute doesn't hide the rest of the file. Collective: yes.
json attributes_json(File& file, const std::string& object) {
  json list = json::array();
  try {
    for (const AttributeInfo& info : file.attributes(object)) {
      list.push_back({{"name", info.name},
                      {"type", info.type_name},
                      {"shape", info.dims},
                      {"value", attribute_value(file, object, info)}});
    }
  } catch (const Error& error) {
    list.push_back({{"error", error.what()}});
  }
  return list;
}

// Null where only libhdf5 can tell, or nobody because of damage.
json stored_bytes(const Dataset& dataset) {
  try {
    const int64_t bytes = dataset.stored_bytes();
    return bytes >= 0 ? json(bytes) : json(nullptr);
  } catch (const Error&) {
    return nullptr;
  }
}

// Returns the attributes by which netCDF and HDF5 connect datasets with their dimensions, which
// have names.
json without_dimensions(json attributes) {
  const auto is_attribute = [](const json& one, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return one.value("name", "") == name; });
  };
  const bool is_scale = std::any_of(attributes.begin(), attributes.end(), [&](const json& one) {
    return is_attribute(one, {"CLASS"}) && one["value"] == "DIMENSION_SCALE";
  });
  json kept = json::array();
  for (json& one : attributes) {
    const bool connects = is_attribute(one, {"DIMENSION_LIST", "REFERENCE_LIST"}) && one["value"].is_null();
    if (!connects && !(is_scale && is_attribute(one, {"CLASS", "NAME"}))) {
      kept.push_back(std::move(one));
    }
  }
  return kept;
}

json enumeration_json(const Dataset& dataset) {
  json members = json::object();
  for (const NamedNumber& member : dataset.enumeration()) {
    members[member.name] = member.value;
  }
  return members;
}

json dataset_json(File& file, const std::string& path) {
  Dataset dataset = file.dataset(path);
  return {{"path", path},
          {"type", dataset.type_name()},
          {"shape", dataset.dims()},
          {"enumeration", enumeration_json(dataset)},
          {"dimensions", dataset.dimensions()},
          {"grows", dataset.can_grow()},
          {"chunk", dataset.chunk()},
          {"bytes", dataset.bytes()},
          {"contiguous", dataset.is_contiguous() || dataset.bytes() == 0},
          {"filters", dataset.filters()},
          {"stored_bytes", stored_bytes(dataset)},
          {"attributes", without_dimensions(attributes_json(file, path))}};
}

// Returns the groups in which datasets lie, from the root on.
std::set<std::string> groups_of(const std::vector<std::string>& paths) {
  std::set<std::string> groups{"/"};
  for (const std::string& path : paths) {
    for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      groups.insert(path.substr(0, slash));
    }
  }
  return groups;
}

template <typename Value>
json list_json(const std::vector<std::pair<std::string, Value>>& list) {
  json object = json::object();
  for (const auto& [name, value] : list) {
    object[name] = value;
  }
  return object;
}

json flash_json(const flash::FlashHeader& header) {
  const flash::ScalarLists& s = header.scalars;
  return {{"dimensionality", header.dim},
          {"blocks", header.global_count},
          {"cells_of_a_block", {header.cells[0], header.cells[1], header.cells[2]}},
          {"variables", header.names},
          {"layout", header.experimental ? "experimental" : "standard"},
          {"integer scalars", list_json(s.integer_scalars)},
          {"real scalars", list_json(s.real_scalars)},
          {"string scalars", list_json(s.string_scalars)},
          {"logical scalars", list_json(s.logical_scalars)},
          {"integer runtime parameters", list_json(s.integer_parameters)},
          {"real runtime parameters", list_json(s.real_parameters)}};
}

json describe(File& file) {
  json description = {{"file", file.path()},
                      {"format", shown_format(file.format())},
                      {"bytes", file.report().file_bytes},
                      {"checksums", file.has_checksums()},
                      {"notes", file.hint_warnings()}};
  for (const std::string& path : file.datasets()) {
    description["datasets"].push_back(dataset_json(file, path));
  }
  for (const std::string& group : groups_of(file.datasets())) {
    json attributes = attributes_json(file, group);
    if (!attributes.empty()) {
      description["groups"].push_back({{"path", group}, {"attributes", std::move(attributes)}});
    }
  }
  auto header = flash::read_header(file);
  if (header.ok()) {
    description["flash"] = flash_json(*header);
  }
  return description;
}

std::string flash_text(const json& flash) {
  std::string text =
      fmt::format("  FLASH file, {}-D, {} layout: {} blocks of {} cells, variables {}\n", flash["dimensionality"].get<int>(),
                  flash["layout"].get<std::string>(), flash["blocks"].get<int64_t>(),
                  fmt::join(flash["cells_of_a_block"].get<std::vector<int64_t>>(), " x "),
                  fmt::join(flash["variables"].get<std::vector<std::string>>(), " "));
  for (const char* list : {"real scalars", "integer scalars"}) {
    text += fmt::format("  {}:", list);
    for (const auto& [name, value] : flash[list].items()) {
      text += fmt::format(" {}={}", name, value.dump());
    }
    text += "\n";
  }
  return text;
}

// Returns a value as in JSON, so that strings have quotes; only the beginning of a long list.
std::string value_text(const json& value) {
  constexpr size_t kShown = 8;
  const auto text = [](const json& one) {
    return one.is_number_float() ? fmt::format("{}", one.get<double>())
                                 : one.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  if (!value.is_array()) {
    return text(value);
  }
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(value.size(), kShown); ++i) {
    shown.push_back(text(value[i]));
  }
  const std::string rest = value.size() > kShown ? fmt::format(", … ({} values)", value.size()) : "";
  return fmt::format("[{}{}]", fmt::join(shown, ", "), rest);
}

std::string attributes_text(const json& attributes) {
  std::string text;
  for (const json& attribute : attributes) {
    if (attribute.contains("error")) {
      text += fmt::format("    attributes can't be read: {}\n", attribute["error"].get<std::string>());
      continue;
    }
    const json& value = attribute["value"];
    const auto shape = attribute["shape"].get<std::vector<int64_t>>();
    const std::string what = !value.is_null() ? " = " + value_text(value) : shape.empty() ? "" : ", " + shape_text(shape);
    text += fmt::format("    {}: {}{}\n", attribute["name"].get<std::string>(), attribute["type"].get<std::string>(), what);
  }
  return text;
}

// Returns how the raw data are stored, where that is unusual.
std::string storage_text(const json& dataset) {
  if (dataset["bytes"] == 0) {
    return "empty";
  }
  if (dataset["contiguous"].get<bool>()) {
    return "";
  }
  const auto filters = dataset["filters"].get<std::string>();
  std::string text = filters.empty() ? "not contiguous" : filters;
  // Records among others take what they have; what chunks take is worth a word.
  if (const json& stored = dataset["stored_bytes"]; !stored.is_null() && stored != dataset["bytes"]) {
    const auto ratio = dataset["bytes"].get<double>() / std::max(stored.get<double>(), 1.0);
    text += fmt::format(", {:.3f} MB in the file, 1 : {:.1f}", stored.get<double>() / 1e6, ratio);
  }
  return text;
}

// Returns the names of its dimensions and values, where it has some.
std::string names_text(const json& dataset) {
  const auto names = dataset["dimensions"].get<std::vector<std::string>>();
  std::string text = names.empty() ? "" : fmt::format("    dimensions ({})\n", fmt::join(names, ", "));
  std::vector<std::string> members;
  for (const auto& [name, value] : dataset["enumeration"].items()) {
    members.push_back(fmt::format("{}={}", name, value.get<int64_t>()));
  }
  return text + (members.empty() ? "" : fmt::format("    enumeration ({})\n", fmt::join(members, ", ")));
}

std::string datasets_text(const json& datasets) {
  constexpr size_t kGap = 2;
  size_t widths[] = {20, 10, 16};
  std::vector<std::array<std::string, 3>> rows;
  for (const json& dataset : datasets) {
    rows.push_back({dataset["path"].get<std::string>(), dataset["type"].get<std::string>(),
                    shape_text(dataset["shape"].get<std::vector<int64_t>>())});
    for (size_t i = 0; i < 3; ++i) {
      widths[i] = std::max(widths[i], rows.back()[i].size());
    }
  }
  const auto line = [&](const std::array<std::string, 3>& row) {
    return fmt::format("  {:<{}}{:<{}}{:<{}}", row[0], widths[0] + kGap, row[1], widths[1] + kGap, row[2], widths[2] + kGap);
  };
  std::string text = line({"dataset", "type", "shape"}) + fmt::format("{:>9}\n", "MB");
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string row = fmt::format("{}{:>9.3f}", line(rows[i]), datasets[i]["bytes"].get<double>() / 1e6);
    const std::string stored = storage_text(datasets[i]);
    const bool fits = stored.empty() || row.size() + 2 + stored.size() <= kColumns;
    text += row + (fits ? (stored.empty() ? "" : "  " + stored) : "\n    " + stored) + "\n";
    text += folded_lines(names_text(datasets[i]) + attributes_text(datasets[i]["attributes"]));
  }
  return text;
}

std::string text_of(const json& description) {
  std::string text = fmt::format("{}: {}, {:.1f} MB, {}\n", description["file"].get<std::string>(),
                                 description["format"].get<std::string>(), description["bytes"].get<double>() / 1e6,
                                 description["checksums"].get<bool>() ? "with checksums" : "without checksums");
  std::string more = description.contains("flash") ? flash_text(description["flash"]) : "";
  for (const json& group : description.value("groups", json::array())) {
    more += fmt::format("  group {}\n{}", group["path"].get<std::string>(), attributes_text(group["attributes"]));
  }
  for (const auto& note : description["notes"].get<std::vector<std::string>>()) {
    more += fmt::format("  note: {}\n", note);
  }
  return text + folded_lines(more) + datasets_text(description.value("datasets", json::array()));
}

int run(Ranks& ranks, const std::string& path, bool as_json) {
  File file = ranks.open(path);
  json description = describe(file);
  print(ranks, as_json ? description.dump(2, ' ', false, json::error_handler_t::replace) + "\n" : text_of(description));
  return kDone;
}

}  // namespace

void add_inspect(Command app, Action& action) {
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  Command command = app.add_subcommand("inspect", "say what is in an HDF5 or netCDF file, and more of a FLASH file");
  command.add_option("file", *path, "the file").required().check(not_empty());
  command.add_flag("--json", *as_json, "answer in JSON");
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run(ranks, *path, *as_json); }; });
}

}  // namespace stria::tool
