// The command line: commands, their options, and what values they take.
//
// Problem: the parser (CLI11) is all in headers. Where each of the fifty files that add an option
// included it, it was half of what compiling the command took.
// Method: light handles on the parser's commands and options; command_line.cpp alone includes it,
// and instantiates an option for each type that a value has here.
// Cost: nothing in a run; a handle is a pointer, and is good while the command line lives.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace stria::tool {

/// Says what the values of an option must be.
class Check {
 public:
  /// `problem` says what is wrong with a value, or nothing; `type` is what help shows of it.
  Check(std::function<std::string(const std::string&)> problem, const std::string& type);
  explicit Check(const CLI::Validator& check);
  const CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
};

/// Checks options that name a file or a directory. An empty value is most often a variable that a
/// script forgot to set.
Check not_empty();
/// Returns a whole number from `lowest` to `highest`.
Check in_range(int64_t lowest, int64_t highest);
/// Returns a number from `lowest` to `highest`.
Check between(double lowest, double highest);
Check positive();
Check not_negative();
Check one_of(const std::vector<std::string>& words);
Check existing_file();

/// Returns the value of a text that is a whole number, as options take it.
std::optional<int64_t> whole_number(const std::string& text);

/// Says what is known of an option.
struct OptionFacts {
  std::string name;                                  ///< "--output", or "file" if it has no hyphens
  std::string positional_name;                       ///< empty unless it is one
  std::vector<std::string> short_names, long_names;  ///< without their hyphens
  std::string help;
  std::string type_name;
  std::string default_text;
  bool is_flag = false;
  bool is_hidden = false;
  bool is_required = false;
  bool takes_several = false;
  int most_values = 0;
  std::vector<std::string> given;  ///< the values as they are in the command line
};

/// An option or a positional argument of a command.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option check(const Check& check);
  Option required();
  /// The option takes as many values as this, or from `fewest` to `most`; a `most` of -1: however
  /// many.
  Option expected(int count);
  Option expected(int fewest, int most);
  /// Given several times, it has all the values, also where other options have the last.
  Option take_all();
  /// One value may be several, with this between them.
  Option delimiter(char separator);
  Option excludes(Option other);
  /// Help doesn't show it.
  Option hidden();
  /// Returns what help shows as the default: a text, or the value that the variable has now.
  Option shown_default(const std::string& text);
  Option show_default();

  OptionFacts facts() const;

 private:
  CLI::Option* option_;
};

/// The program's commands, and those below one of them.
class Command {
 public:
  Command() = default;
  explicit Command(CLI::App* command) : command_(command) {}

  Command add_subcommand(const std::string& name, const std::string& help);
  /// Options that belong together. In the command line they are options like the others.
  Command add_option_group(const std::string& name, const std::string& help);
  /// `names` are as in "-o,--output", or one without hyphens of a positional argument. `value` is
  /// set when the command line is parsed, and must live until then. Value: a number, a text, an
  /// array or a vector of these (command_line.cpp has the list).
  template <typename Value>
  Option add_option(const std::string& names, Value& value, const std::string& help);
  /// Returns the same with a function that takes the value.
  Option add_text_option(const std::string& names, std::function<void(const std::string&)> take, const std::string& help);
  /// A flag has no value; "!--no-x" makes it false. A text: "--x{standard}", which --x=other
  /// replaces.
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  Option add_flag(const std::string& names, std::string& value, const std::string& help);

  void require_subcommand();
  /// Requires exactly one option of this group.
  void require_one_option();
  /// Options that are added from here on take the last value where they are given several times,
  /// and help shows the value that the variable has.
  void take_last_and_show_defaults();
  /// Called after parsing, if this command was chosen.
  void callback(std::function<void()> action);
  void footer(const std::string& text);

  /// Returns how often an option was given.
  size_t count(const std::string& option) const;
  std::string name() const;
  /// Returns the full name, such as "stria flash sedov".
  std::string full_name() const;
  std::string help() const;
  bool needs_subcommand() const;
  /// Returns those that may be chosen; groups of options are among them, without a name.
  std::vector<Command> subcommands() const;
  std::vector<Command> chosen_subcommands() const;
  std::vector<Option> options() const;
  /// Returns the words of the command line that were not understood.
  std::vector<std::string> remaining() const;
  /// The program's own, above all others.
  Command top() const;

 private:
  CLI::App* command_ = nullptr;
};

/// All of a program's command line.
class CommandLine {
 public:
  CommandLine(const std::string& help, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Says what parsing came to. kAnswer: the text is asked for, as by --help. kMissing: something
  /// that is required is missing, or a word is not understood. kWrong: anything else.
  enum class Result { kDone, kAnswer, kMissing, kWrong };
  struct Outcome {
    Result result = Result::kDone;
    std::string text;
  };

  Command top() const { return Command(top_.get()); }
  void add_version(const std::string& version);
  Outcome parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> top_;
};

}  // namespace stria::tool
