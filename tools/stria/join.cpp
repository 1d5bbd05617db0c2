// stria join: makes one plain file of one that is kept in several.
#include <fmt/format.h>

#include "command.hpp"
#include "file/joining.hpp"

namespace stria::tool {

namespace {

int run(Ranks& ranks, const std::string& path, const std::string& output, const Hints& hints) {
  file::Joined joined;
  const std::string& target = output.empty() ? path : output;
  on_root(ranks, [&] { joined = file::join_file(path, target, hints); });
  print(ranks, fmt::format("{}: {:.1f} MB of {} parts are in one file\n", target, static_cast<double>(joined.file_bytes) / 1e6,
                           joined.part_count));
  return kDone;
}

}  // namespace

void add_join(CLI::App& app, Action& action) {
  auto path = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  auto entries = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("join", "make one plain file of one that is kept in parts");
  command->add_option("file", *path, "the file that names the parts")->required()->check(not_empty());
  command->add_option("-o,--output", *output, "the new file; without it the file replaces FILE, and the parts are removed")
      ->check(not_empty());
  command->add_option("--hint", *entries, "a hint for the new file, as name=value; may be repeated");
  command->callback(
      [=, &action] { action = [=](Ranks& ranks) { return run(ranks, *path, *output, parse_hints(ranks, *entries)); }; });
}

}  // namespace stria::tool
