#include "help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "folded.hpp"

namespace stria::tool {

namespace {

constexpr size_t kWordsColumn = 30;     // where the parser begins what an option or a command is
constexpr size_t kCommandsColumn = 14;  // in the list of commands

struct Task {
  std::string_view title;
  std::vector<std::string_view> commands;
};

const std::vector<Task>& tasks() {
  static const std::vector<Task> kTasks = {
      {"Look at files", {"inspect", "verify", "repair"}},
      {"Change how they are kept", {"join", "compact", "drain"}},
      {"Find out why I/O is slow", {"trace", "tune"}},
      {"Measure", {"bench", "papers", "simulate"}},
      {"Run applications", {"flash", "convection"}},
      {"Keep files on servers of your own",
       {"serve", "status", "df", "scrub", "fsck", "backup", "server", "promote", "quota", "retire", "key", "mount"}},
      {"Files of a store or a pool", {"ls", "cp", "mv", "rm", "mkdir", "stat", "chmod", "chown"}},
  };
  return kTasks;
}

struct Example {
  std::string_view command;
  std::string_view line;
};

constexpr Example kExamples[] = {
    {"inspect", "  stria inspect FILE                        what is in a file\n"},
    {"verify", "  stria verify FILE                         whether it is as it was written\n"},
    {"flash", "  mpiexec -n 4 stria flash io --dir DIR     how fast checkpoints are here\n"},
    {"trace", "  stria trace report RUN.stria-trace        why a run's I/O is slow\n"},
};

// Options and commands go on where their words begin, other lines at their own beginning.
std::string folded_help(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  const bool is_entry = begin == 2 || (begin == kWordsColumn && line.size() > kWordsColumn);
  return folded(line, is_entry ? kWordsColumn : 0);
}

struct Entry {
  std::string name;
  std::string words;
};

std::string listed(const std::string& title, const std::vector<Entry>& entries) {
  std::string text = entries.empty() ? "" : fmt::format("\n{}:\n", title);
  for (const Entry& entry : entries) {
    text += folded(fmt::format("  {:<{}}{}", entry.name, kCommandsColumn - 2, entry.words), kCommandsColumn);
  }
  return text;
}

// Examples of the commands that are installed.
std::string examples(const std::vector<Entry>& entries) {
  std::string text = "\nExamples:\n";
  for (const auto& [command, line] : kExamples) {
    if (std::any_of(entries.begin(), entries.end(), [name = command](const Entry& one) { return one.name == name; })) {
      text += line;
    }
  }
  return text;
}

// Returns the commands by task, and those without one behind the others.
std::string by_task(std::vector<Entry> entries) {
  std::string text;
  for (const Task& task : tasks()) {
    std::vector<Entry> of_task;
    for (const std::string_view name : task.commands) {
      const auto found = std::find_if(entries.begin(), entries.end(), [name](const Entry& one) { return one.name == name; });
      if (found != entries.end()) {
        of_task.push_back(std::move(*found));
        entries.erase(found);
      }
    }
    text += listed(std::string(task.title), of_task);
  }
  return text + listed("Other commands", entries);
}

std::string place_of_documents() {
  const auto folder = std::filesystem::path(own_program()).parent_path() / STRIA_DOCUMENTS_FROM_COMMAND;
  std::error_code ignored;
  const auto documents = folder.lexically_normal();
  return std::filesystem::exists(documents / "README.md", ignored) ? fmt::format("\nDocuments: {}\n", documents.string()) : "";
}

}  // namespace

std::string shown_help(const std::string& help) {
  std::istringstream lines(help);
  std::string text;
  std::string after;  // the list of commands
  std::vector<Entry> commands;
  const bool is_whole = help.find("Usage: stria [OPTIONS]") != std::string::npos;
  bool in_commands = false;
  for (std::string line; std::getline(lines, line);) {
    if (is_whole && line == "Subcommands:") {
      in_commands = true;
    } else if (in_commands && line.starts_with("  ") && line[2] != ' ') {
      const size_t end = line.find(' ', 2);
      commands.push_back({line.substr(2, end - 2), line.substr(line.find_first_not_of(' ', end))});
    } else {
      (commands.empty() ? text : after) += folded_help(line);
    }
  }
  if (!is_whole) {
    return text;
  }
  const std::string before = text.substr(0, text.find_last_not_of('\n') + 1) + "\n";
  const std::string shown = examples(commands);
  return before + by_task(std::move(commands)) + shown + after + place_of_documents();
}

}  // namespace stria::tool
