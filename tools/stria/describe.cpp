#include "describe.hpp"

#include <nlohmann/json.hpp>
#include <vector>

namespace stria::tool {

namespace {

using nlohmann::json;

json command_json(const Command& command);

json option_json(const OptionFacts& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.short_names) {
    names.push_back("-" + name);
  }
  for (const std::string& name : option.long_names) {
    names.push_back("--" + name);
  }
  return {{"names", names},
          {"positional", option.positional_name},
          {"help", option.help},
          {"type", option.is_flag ? "" : option.type_name},
          {"default", option.default_text},
          {"required", option.is_required},
          {"values", option.most_values},
          {"several", option.takes_several}};
}

// Groups of options are commands without a name to the parser. To users they are options. A hidden
// option is for the program itself.
void add_parts(const Command& command, json& options, json& commands) {
  for (const Option& option : command.options()) {
    if (const OptionFacts facts = option.facts(); !facts.is_hidden) {
      options.push_back(option_json(facts));
    }
  }
  for (const Command& below : command.subcommands()) {
    if (below.name().empty()) {
      add_parts(below, options, commands);
    } else {
      commands.push_back(command_json(below));
    }
  }
}

json command_json(const Command& command) {
  json options = json::array();
  json commands = json::array();
  add_parts(command, options, commands);
  return {{"name", command.name()}, {"help", command.help()}, {"options", options}, {"commands", commands}};
}

}  // namespace

std::string described(const Command& command) {
  return command_json(command).dump(1);
}

}  // namespace stria::tool
