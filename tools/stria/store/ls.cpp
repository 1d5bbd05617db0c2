// stria ls: lists a directory of a store or a pool.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "storage/rados/rados_driver.hpp"
#include "storage/rados/rados_path.hpp"
#include "store/owners.hpp"
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
  if (storage::is_rados_path(url)) {
    const storage::PoolName file = storage::look_in_pool(url).value();
    const std::string size = is_directory ? "" : std::to_string(file.bytes);
    return fmt::format("{:>15}  {:>14}  {}\n", size, is_directory ? "" : readable(file.object_bytes), shown);
  }
  const wire::Attributes attributes = attributes_of(url);
  const std::string made = fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(attributes.created_ns / 1000000000));
  const std::string owner = fmt::format("{}  {:>8} {:>8}", mode_text(attributes.is_directory, attributes.owner.mode),
                                        user_name(attributes.owner.uid), group_name(attributes.owner.gid));
  if (is_directory) {
    return fmt::format("{}  {:>15}  {:>14}  {}  {}\n", owner, "", "", made, shown);
  }
  return fmt::format("{}  {:>15}  {:>3} x {:>8}  {}  {}\n", owner, state_of_file(url, attributes.place).bytes,
                     attributes.place.slots.size(), readable(attributes.place.stripe_bytes), made, shown);
}

int run(const Arguments& arguments) {
  std::string text;
  if (!is_directory(arguments.path)) {
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
  CLI::App* command = app.add_subcommand("ls", "list a directory of a store or a pool");
  command->add_option("path", arguments->path, "stria://SERVER/PATH or rados://POOL/PATH")->required();
  command->add_flag(
      "-l,--long", arguments->details,
      "also mode, owner, group, bytes, servers and stripes, and when they were made; in a pool bytes and objects");
  command->callback([=, &action] { action = [=](MPI_Comm) { return run(*arguments); }; });
}

}  // namespace stria::tool
