#include "command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <sstream>
#include <utility>

namespace stria::tool {

Check::Check(std::function<std::string(const std::string&)> problem, const std::string& type)
    : validator_(std::make_shared<CLI::Validator>([problem = std::move(problem)](std::string& value) { return problem(value); },
                                                  type)) {}

Check::Check(const CLI::Validator& check) : validator_(std::make_shared<CLI::Validator>(check)) {}

Check not_empty() {
  return {[](const std::string& value) { return std::string(value.empty() ? "a name is missing" : ""); }, ""};
}

Check in_range(int64_t lowest, int64_t highest) {
  return Check(CLI::Range(lowest, highest).description(fmt::format("{} to {}", lowest, highest)));
}

Check between(double lowest, double highest) {
  return Check(CLI::Range(lowest, highest));
}

Check positive() {
  return Check(CLI::PositiveNumber);
}

Check not_negative() {
  return Check(CLI::NonNegativeNumber);
}

Check one_of(const std::vector<std::string>& words) {
  return Check(CLI::IsMember(words));
}

Check existing_file() {
  return Check(CLI::ExistingFile);
}

std::optional<int64_t> whole_number(const std::string& text) {
  int64_t number = 0;
  return CLI::detail::lexical_cast(text, number) ? std::optional(number) : std::nullopt;
}

Option Option::check(const Check& check) {
  return Option(option_->check(check.validator()));
}

Option Option::required() {
  return Option(option_->required());
}

Option Option::expected(int count) {
  return Option(option_->expected(count));
}

Option Option::expected(int fewest, int most) {
  return Option(option_->expected(fewest, most));
}

Option Option::take_all() {
  return Option(option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
}

Option Option::delimiter(char separator) {
  return Option(option_->delimiter(separator));
}

Option Option::excludes(Option other) {
  return Option(option_->excludes(other.option_));
}

Option Option::hidden() {
  return Option(option_->group(""));
}

Option Option::shown_default(const std::string& text) {
  return Option(option_->default_str(text));
}

Option Option::show_default() {
  return Option(option_->capture_default_str());
}

OptionFacts Option::facts() const {
  return {.name = option_->get_name(),
          .positional_name = option_->get_positional() ? option_->get_name(true) : "",
          .short_names = option_->get_snames(),
          .long_names = option_->get_lnames(),
          .help = option_->get_description(),
          .type_name = option_->get_type_name(),
          .default_text = option_->get_default_str(),
          .is_flag = option_->get_items_expected_max() == 0,
          .is_hidden = option_->get_group().empty(),
          .is_required = option_->get_required(),
          .takes_several = option_->get_expected_max() > 1,
          .most_values = option_->get_items_expected_max(),
          .given = option_->results()};
}

Command Command::add_subcommand(const std::string& name, const std::string& help) {
  return Command(command_->add_subcommand(name, help));
}

Command Command::add_option_group(const std::string& name, const std::string& help) {
  return Command(command_->add_option_group(name, help));
}

template <typename Value>
Option Command::add_option(const std::string& names, Value& value, const std::string& help) {
  return Option(command_->add_option(names, value, help));
}

// The types that options have here.
template Option Command::add_option(const std::string&, int&, const std::string&);
template Option Command::add_option(const std::string&, int64_t&, const std::string&);
template Option Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option Command::add_option(const std::string&, double&, const std::string&);
template Option Command::add_option(const std::string&, std::string&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::add_option(const std::string&, std::vector<int64_t>&, const std::string&);
template Option Command::add_option(const std::string&, std::array<int, 3>&, const std::string&);
template Option Command::add_option(const std::string&, std::optional<double>&, const std::string&);

Option Command::add_text_option(const std::string& names, std::function<void(const std::string&)> take,
                                const std::string& help) {
  return Option(command_->add_option_function<std::string>(names, std::move(take), help));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(command_->add_flag(names, value, help));
}

Option Command::add_flag(const std::string& names, std::string& value, const std::string& help) {
  return Option(command_->add_flag(names, value, help));
}

void Command::require_subcommand() {
  command_->require_subcommand(1);
}

void Command::require_one_option() {
  command_->require_option(1);
}

void Command::take_last_and_show_defaults() {
  command_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->always_capture_default();
}

void Command::callback(std::function<void()> action) {
  command_->callback(std::move(action));
}

void Command::footer(const std::string& text) {
  command_->footer(text);
}

size_t Command::count(const std::string& option) const {
  return command_->count(option);
}

std::string Command::name() const {
  return command_->get_name();
}

std::string Command::full_name() const {
  std::string name = command_->get_name();
  for (const CLI::App* above = command_->get_parent(); above != nullptr; above = above->get_parent()) {
    name = above->get_name() + " " + name;
  }
  return name;
}

std::string Command::help() const {
  return command_->get_description();
}

bool Command::needs_subcommand() const {
  return command_->get_require_subcommand_min() > 0;
}

std::vector<Command> Command::subcommands() const {
  std::vector<Command> commands;
  for (CLI::App* command : command_->get_subcommands([](CLI::App*) { return true; })) {
    commands.emplace_back(command);
  }
  return commands;
}

std::vector<Command> Command::chosen_subcommands() const {
  std::vector<Command> commands;
  for (CLI::App* command : command_->get_subcommands()) {
    commands.emplace_back(command);
  }
  return commands;
}

std::vector<Option> Command::options() const {
  std::vector<Option> options;
  for (CLI::Option* option : command_->get_options([](CLI::Option*) { return true; })) {
    options.emplace_back(option);
  }
  return options;
}

std::vector<std::string> Command::remaining() const {
  return command_->remaining();
}

Command Command::top() const {
  CLI::App* top = command_;
  while (top->get_parent() != nullptr) {
    top = top->get_parent();
  }
  return Command(top);
}

CommandLine::CommandLine(const std::string& help, const std::string& name) : top_(std::make_unique<CLI::App>(help, name)) {}

CommandLine::~CommandLine() = default;

void CommandLine::add_version(const std::string& version) {
  top_->set_version_flag("--version", version);
}

CommandLine::Outcome CommandLine::parse(int argc, const char* const* argv) {
  try {
    top_->parse(argc, argv);
    return {};
  } catch (const CLI::RequiredError& error) {
    return {Result::kMissing, error.what()};
  } catch (const CLI::ExtrasError& error) {
    return {Result::kMissing, error.what()};
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      return {Result::kWrong, error.what()};
    }
    std::ostringstream answer;
    top_->exit(error, answer);
    return {Result::kAnswer, answer.str()};
  }
}

}  // namespace stria::tool
