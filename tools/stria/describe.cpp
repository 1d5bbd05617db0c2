#include "describe.hpp"

#include <string>
#include <vector>

namespace stria::tool {

namespace {

using nlohmann::json;

json option_json(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back("--" + name);
  }
  const bool is_flag = option.get_items_expected_max() == 0;
  return {{"names", names},
          {"positional", option.get_positional() ? option.get_name(true) : ""},
          {"help", option.get_description()},
          {"type", is_flag ? "" : option.get_type_name()},
          {"default", option.get_default_str()},
          {"required", option.get_required()},
          {"values", option.get_items_expected_max()},
          {"several", option.get_expected_max() > 1}};
}

// Groups of options are commands without a name to the parser. To users they are options.
void add_parts(const CLI::App& app, json& options, json& commands) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) {  // one without a group is for the program itself
      options.push_back(option_json(*option));
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (below->get_name().empty()) {
      add_parts(*below, options, commands);
    } else {
      commands.push_back(described(*below));
    }
  }
}

}  // namespace

json described(const CLI::App& app) {
  json options = json::array();
  json commands = json::array();
  add_parts(app, options, commands);
  return {{"name", app.get_name()}, {"help", app.get_description()}, {"options", options}, {"commands", commands}};
}

}  // namespace stria::tool
