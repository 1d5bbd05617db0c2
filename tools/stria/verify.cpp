// stria verify: is this file complete, and is every checksum right?
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "stria/file.hpp"

namespace stria::tool {

namespace {

int run(MPI_Comm comm, const std::string& path, bool as_json) {
  File file = File::open(comm, path);
  if (!file.has_checksums()) {
    throw Error(ErrorCode::kUnsupported, fmt::format("'{}' carries no checksums: it was not written by Stria, or without them", path));
  }
  std::vector<Damage> damages = file.verify();
  if (as_json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Damage& damage : damages) {
      list.push_back({{"dataset", damage.dataset}, {"first_row", damage.first_row}, {"last_row", damage.last_row}});
    }
    print(comm, nlohmann::json({{"file", path}, {"intact", damages.empty()}, {"damages", list}}).dump(2) + "\n");
    return damages.empty() ? kDone : kAnswerIsNo;
  }
  for (const Damage& damage : damages) {
    print(comm, damage.last_row - damage.first_row == 1
                    ? fmt::format("{}: dataset '{}' is damaged in block {}\n", path, damage.dataset, damage.first_row)
                    : fmt::format("{}: dataset '{}' is damaged in blocks {} to {}\n", path, damage.dataset, damage.first_row,
                                  damage.last_row - 1));
  }
  if (damages.empty()) {
    print(comm, fmt::format("{}: complete, every checksum is right\n", path));
  }
  return damages.empty() ? kDone : kAnswerIsNo;
}

}  // namespace

void add_verify(CLI::App& app, Action& action) {
  auto path = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("verify", "check a file against its checksums: 0 intact, 1 damaged, 2 not readable as such");
  command->add_option("file", *path, "the file")->required();
  command->add_flag("--json", *as_json, "answer in JSON");
  command->callback([=, &action] { action = [=](MPI_Comm comm) { return run(comm, *path, *as_json); }; });
}

}  // namespace stria::tool
