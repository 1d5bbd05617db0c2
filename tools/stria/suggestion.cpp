#include "suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace stria::tool {

namespace {

constexpr size_t kMostSuggestions = 3;
constexpr size_t kNoMatch = std::numeric_limits<size_t>::max();

// The number of insertions, deletions, replacements and swaps of neighbours (optimal string
// alignment), computed row by row.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

// A name that begins as typed counts as one slip. Otherwise at most a third of the
// letters may be wrong.
size_t difference(const std::string& typed, const std::string& name) {
  if (typed.size() > 1 && name.compare(0, typed.size(), typed) == 0) {
    return 1;
  }
  const size_t distance = edit_distance(typed, name);
  return distance * 3 <= std::max(typed.size(), name.size()) + 1 ? distance : kNoMatch;
}

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
