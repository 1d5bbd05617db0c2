#include "suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/similar_names.hpp"

namespace stria::tool {

namespace {

constexpr size_t kMostSuggestions = 3;

// A name that can be typed, how it is shown, and how many groups below the typed word's it stands.
struct Candidate {
  std::string name;
  std::string shown;
  int depth = 0;
};

// Those with the fewest slips; among these, those that stand the least deep.
std::vector<std::string> nearest(const std::string& typed, const std::vector<Candidate>& candidates) {
  std::pair<size_t, int> least{kNoMatch, 0};
  std::vector<std::string> found;
  for (const auto& [name, shown, depth] : candidates) {
    const std::pair<size_t, int> here{difference(typed, name), depth};
    if (here < least) {
      found.clear();
      least = here;
    }
    if (here == least && here.first != kNoMatch && found.size() < kMostSuggestions) {
      found.push_back(shown);
    }
  }
  return found;
}

// "stria flash sedov"
std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// Adds the commands of `app`, and those below them.
void add_commands(const CLI::App& app, std::vector<Candidate>& commands, int depth = 0) {
  const auto every = [](const CLI::App*) { return true; };
  for (const CLI::App* command : app.get_subcommands(every)) {
    commands.push_back({command->get_name(), fmt::format("'{}'", full_name(*command)), depth});
  }
  for (const CLI::App* command : app.get_subcommands(every)) {
    add_commands(*command, commands, depth + 1);
  }
}

std::string meant(const std::vector<std::string>& suggestions) {
  return suggestions.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(suggestions, " or "));
}

// Adds the long options of `app`, and those of the commands below it, which are shown with their
// command. Groups of options are commands without a name.
void add_options(const CLI::App& app, std::vector<Candidate>& options, const std::string& command = "", int depth = 0) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      options.push_back(
          {.name = "--" + name, .shown = depth == 0 ? "--" + name : fmt::format("'{} --{}'", command, name), .depth = depth});
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (below->get_name().empty()) {
      add_options(*below, options, command, depth);
    } else {
      add_options(*below, options, full_name(*below), depth + 1);
    }
  }
}

// The option may belong to a command below: 'stria trace --json' means 'stria trace stats --json'.
// One hyphen too few is no slip.
std::string unknown_option(const CLI::App& app, const std::string& word) {
  const std::string typed = word.substr(0, word.find('='));
  std::vector<Candidate> options;
  add_options(app, options);
  const bool one_hyphen = typed.size() > 2 && typed[1] != '-';
  return fmt::format("'{}' has no option '{}'{}", full_name(app), typed,
                     meant(nearest(one_hyphen ? "-" + typed : typed, options)));
}

// The command may belong to another group: 'stria sedov' means 'stria flash sedov'.
std::string unknown_command(const CLI::App& app, const std::string& typed) {
  std::vector<Candidate> commands;
  add_commands(app, commands);
  std::vector<std::string> suggestions = nearest(typed, commands);
  if (suggestions.empty()) {
    const CLI::App* top = &app;
    while (top->get_parent() != nullptr) {
      top = top->get_parent();
    }
    commands.clear();
    add_commands(*top, commands);
    suggestions = nearest(typed, commands);
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return fmt::format("there is no command '{} {}'{}", full_name(app), typed,
                     suggestions.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : meant(suggestions));
}

}  // namespace

std::string unknown_word(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front().size() > 1 && words.front().front() == '-') {
    return unknown_option(app, words.front());
  }
  if (!words.empty() && app.get_require_subcommand_min() > 0) {
    return unknown_command(app, words.front());
  }
  for (const CLI::App* command : app.get_subcommands()) {
    std::string unknown = unknown_word(*command);
    if (!unknown.empty()) {
      return unknown;
    }
  }
  return "";
}

}  // namespace stria::tool
