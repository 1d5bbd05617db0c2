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

// Returns those with the fewest slips; among these, those that stand the least deep.
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

// Adds the commands of `app`, and those below them.
void add_commands(const Command& app, std::vector<Candidate>& commands, int depth = 0) {
  for (const Command& command : app.subcommands()) {
    commands.push_back({command.name(), fmt::format("'{}'", command.full_name()), depth});
  }
  for (const Command& command : app.subcommands()) {
    add_commands(command, commands, depth + 1);
  }
}

std::string meant(const std::vector<std::string>& suggestions) {
  return suggestions.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(suggestions, " or "));
}

// Adds the long options of `app`, and those of the commands below it, which are shown with their
// command. Groups of options are commands without a name.
void add_options(const Command& app, std::vector<Candidate>& options, const std::string& command = "", int depth = 0) {
  for (const Option& option : app.options()) {
    for (const std::string& name : option.facts().long_names) {
      options.push_back(
          {.name = "--" + name, .shown = depth == 0 ? "--" + name : fmt::format("'{} --{}'", command, name), .depth = depth});
    }
  }
  for (const Command& below : app.subcommands()) {
    if (below.name().empty()) {
      add_options(below, options, command, depth);
    } else {
      add_options(below, options, below.full_name(), depth + 1);
    }
  }
}

// The option may belong to a command below: 'stria trace --json' means 'stria trace stats --json'.
// One hyphen too few is no slip.
std::string unknown_option(const Command& app, const std::string& word) {
  const std::string typed = word.substr(0, word.find('='));
  std::vector<Candidate> options;
  add_options(app, options);
  const bool one_hyphen = typed.size() > 2 && typed[1] != '-';
  return fmt::format("'{}' has no option '{}'{}", app.full_name(), typed,
                     meant(nearest(one_hyphen ? "-" + typed : typed, options)));
}

// The command may belong to another group: 'stria sedov' means 'stria flash sedov'.
std::string unknown_command(const Command& app, const std::string& typed) {
  std::vector<Candidate> commands;
  add_commands(app, commands);
  std::vector<std::string> suggestions = nearest(typed, commands);
  if (suggestions.empty()) {
    commands.clear();
    add_commands(app.top(), commands);
    suggestions = nearest(typed, commands);
  }
  std::vector<std::string> names;
  for (const Command& command : app.subcommands()) {
    names.push_back(command.name());
  }
  return fmt::format("there is no command '{} {}'{}", app.full_name(), typed,
                     suggestions.empty() ? fmt::format("; there are {}", fmt::join(names, ", ")) : meant(suggestions));
}

}  // namespace

std::string unknown_word(const Command& app) {
  const std::vector<std::string> words = app.remaining();
  if (!words.empty() && words.front().size() > 1 && words.front().front() == '-') {
    return unknown_option(app, words.front());
  }
  if (!words.empty() && app.needs_subcommand()) {
    return unknown_command(app, words.front());
  }
  for (const Command& command : app.chosen_subcommands()) {
    std::string unknown = unknown_word(command);
    if (!unknown.empty()) {
      return unknown;
    }
  }
  return "";
}

}  // namespace stria::tool
