// stria drain: brings staged files to their own places.
#include <fmt/format.h>

#include <cstdio>

#include "command.hpp"
#include "file/background/staging_place.hpp"
#include "file/parity/homecoming.hpp"
#include "storage/registry/registry.hpp"

namespace stria::tool {

namespace {

int run(const std::string& place) {
  const auto driver = storage::make_driver("posix").value();
  driver->list_directory(place).status().throw_if_error();
  Status failure;
  std::vector<std::string> brought = file::drain_place(driver, place, failure);
  const std::vector<std::string> parts = file::bring_parts_home(*driver, place, failure);
  brought.insert(brought.end(), parts.begin(), parts.end());
  for (const std::string& path : brought) {
    fmt::print("brought '{}'\n", path);
  }
  if (!failure.ok()) {
    std::fflush(stdout);
    fmt::print(stderr, "stria: {}\n", failure.message());
    return kAnswerIsNo;
  }
  if (brought.empty()) {
    fmt::print("'{}' holds no file for another place\n", place);
  }
  return kDone;
}

}  // namespace

void add_drain(Command app, Action& action) {
  auto place = std::make_shared<std::string>();
  Command command = app.add_subcommand(
      "drain", "bring files to their own places that a killed program has left staged, and parts to their files");
  command
      .add_option("place", *place,
                  "what the hint stria_staging or stria_part_places was: a directory, or stria://SERVER/DIRECTORY")
      .required()
      .check(not_empty());
  command.callback([=, &action] { action = [=](Ranks&) { return run(*place); }; });
}

}  // namespace stria::tool
