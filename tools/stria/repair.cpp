// stria repair: put back what is damaged or missing of files, by their parity.
#include "file/parity/repair.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "access/request/hints.hpp"
#include "command.hpp"
#include "file/rewrite/renewing.hpp"
#include "storage/registry/registry.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

struct Wishes {
  std::vector<std::string> paths;
  bool only_looks = false;
  file::RepairWishes how{};
  int64_t renewed = 0;  ///< how many parity files to make anew
  bool as_json = false;
};

std::string text_of(const std::string& path, const file::ParityVerdict& verdict, bool only_looks) {
  std::string text;
  for (const file::ParityTrouble& trouble : verdict.troubles) {
    text += fmt::format("{}: {}{}\n", path, trouble.words, only_looks ? "" : ", and is put back");
  }
  if (verdict.beyond_repair > 0) {
    text += fmt::format("{}: can't be put back: {}\n", path, verdict.lost);
  }
  return text.empty() ? fmt::format("{}: whole, and so is its parity\n", path) : text;
}

json json_of(const std::string& path, const file::ParityVerdict& verdict, bool only_looks) {
  json troubles = json::array();
  for (const file::ParityTrouble& trouble : verdict.troubles) {
    troubles.push_back(trouble.words);
  }
  return {{"file", path},
          {"parity_files", verdict.parities},
          {"bytes", verdict.bytes},
          {"troubles", troubles},
          {"can_be_repaired", verdict.beyond_repair == 0},
          {"repaired", !only_looks && !verdict.troubles.empty()}};
}

int run(Ranks& ranks, const Wishes& wishes) {
  int status = kDone;
  json all = json::array();
  on_root(ranks, [&] {
    const auto driver = storage::make_driver("posix").value();
    for (const std::string& path : wishes.paths) {
      if (wishes.renewed > 0) {
        file::renew_parity(path, static_cast<int>(wishes.renewed)).throw_if_error();
      }
      const file::ParityVerdict verdict =
          (wishes.only_looks ? file::check_parity(driver, path) : file::repair_file(driver, path, wishes.how)).value();
      status = wishes.only_looks && !verdict.troubles.empty() ? kAnswerIsNo : status;
      all.push_back(json_of(path, verdict, wishes.only_looks));
      print(ranks, wishes.as_json ? "" : text_of(path, verdict, wishes.only_looks));
    }
  });
  if (wishes.as_json) {
    print(ranks, (all.size() == 1 ? all[0] : all).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  }
  return status;
}

}  // namespace

void add_repair(Command app, Action& action) {
  auto wishes = std::make_shared<Wishes>();
  Command command = app.add_subcommand("repair", "put back what is damaged or missing of files, by their parity");
  command.add_option("file", wishes->paths, "the files, by the names that programs open").required().check(not_empty());
  command.add_flag("-n,--dry-run", wishes->only_looks, "change nothing; 1 where there is something to repair");
  command.add_flag("--force", wishes->how.force, "take back what other programs have written into the file since");
  command.add_option("--place", wishes->how.place, "the directory for what is missing, where its own is gone")
      .check(not_empty());
  command.add_option("--renew", wishes->renewed, "make so many parity files anew, of what the file is now")
      .check(in_range(1, access::ResolvedHints::kMostParities));
  command.add_flag("--json", wishes->as_json, "answer in JSON");
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run(ranks, *wishes); }; });
}

}  // namespace stria::tool
