// stria inspect: what is in a file, for people, or as JSON for programs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "format/flash_file.hpp"
#include "format/lists.hpp"
#include "stria/file.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

std::string shape_text(const std::vector<int64_t>& dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, " x "));
}

json dataset_json(const File& file, const std::string& path) {
  Dataset dataset = file.dataset(path);
  return {{"path", path},
          {"type", dataset.type_name()},
          {"shape", dataset.dims()},
          {"bytes", dataset.bytes()},
          {"contiguous", dataset.is_contiguous()}};
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
  json description = {{"file", file.path()}, {"bytes", file.report().file_bytes}, {"checksums", file.has_checksums()}};
  for (const std::string& path : file.datasets()) {
    description["datasets"].push_back(dataset_json(file, path));
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

std::string text_of(const json& description) {
  std::string text =
      fmt::format("{}: {:.1f} MB, {}\n", description["file"].get<std::string>(), description["bytes"].get<double>() / 1e6,
                  description["checksums"].get<bool>() ? "with checksums" : "without checksums");
  if (description.contains("flash")) {
    text += flash_text(description["flash"]);
  }
  text += fmt::format("  {:<30}{:<14}{:<26}{:>12}\n", "dataset", "type", "shape", "MB");
  for (const json& dataset : description.value("datasets", json::array())) {
    text += fmt::format("  {:<30}{:<14}{:<26}{:>12.3f}{}\n", dataset["path"].get<std::string>(),
                        dataset["type"].get<std::string>(), shape_text(dataset["shape"].get<std::vector<int64_t>>()),
                        dataset["bytes"].get<double>() / 1e6, dataset["contiguous"].get<bool>() ? "" : "  not contiguous");
  }
  return text;
}

int run(MPI_Comm comm, const std::string& path, bool as_json) {
  File file = File::open(comm, path);
  json description = describe(file);
  print(comm, as_json ? description.dump(2, ' ', false, json::error_handler_t::replace) + "\n" : text_of(description));
  return kDone;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("inspect", "say what is in an HDF5 file, and more of a FLASH file");
  command->add_option("file", *path, "the file")->required()->check(not_empty());
  command->add_flag("--json", *as_json, "answer in JSON");
  command->callback([=, &action] { action = [=](MPI_Comm comm) { return run(comm, *path, *as_json); }; });
}

}  // namespace stria::tool
