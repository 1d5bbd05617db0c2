// stria ls: lists a directory of a store.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "storage/registry.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

struct Arguments {
  std::string path;
  bool details = false;
};

std::string line(const std::string& url, const std::string& name, bool is_directory, bool details) {
  const std::string shown = name + (is_directory ? "/" : "");
  if (!details) {
    return shown + "\n";
  }
  const wire::Attributes attributes = attributes_of(url);
  const std::string made = fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(attributes.created_ns / 1000000000));
  if (is_directory) {
    return fmt::format("{:>15}  {:>14}  {}  {}\n", "", "", made, shown);
  }
  const auto driver = storage::make_driver("posix").value();
  const auto file = driver->open(url, {}).value();
  return fmt::format("{:>15}  {:>3} x {:>8}  {}  {}\n", file->size().value(), attributes.place.slots.size(),
                     readable(attributes.place.stripe_bytes), made, shown);
}

int run(const Arguments& arguments) {
  std::string text;
  const wire::Attributes attributes = attributes_of(arguments.path);
  if (!attributes.is_directory) {
    text = line(arguments.path, arguments.path, false, arguments.details);
  } else {
    for (const wire::Listed::Entry& entry : entries_of(arguments.path)) {
      text += line(joined(arguments.path, entry.name), entry.name, entry.is_directory, arguments.details);
    }
  }
  std::fputs(text.c_str(), stdout);
  return kDone;
}

}  // namespace

void add_ls(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("ls", "list a directory of a store");
  command->add_option("path", arguments->path, "stria://SERVER/PATH")->required();
  command->add_flag("-l,--long", arguments->details, "also bytes, servers and stripes, and when they were made");
  command->callback([=, &action] { action = [=](MPI_Comm) { return run(*arguments); }; });
}

}  // namespace stria::tool
