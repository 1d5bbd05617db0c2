// stria verify: is this file complete, and is every checksum right?
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "file/parity/repair.hpp"
#include "storage/registry/registry.hpp"
#include "stria/file.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

struct FileVerdict {
  std::vector<Damage> damages;
  std::vector<std::string> remarks;
};

// Looks at the parity itself, which no read looks at while the file is whole.
std::vector<std::string> remarks_on_parity(Ranks& ranks, const std::string& path) {
  std::vector<std::string> remarks;
  on_root(ranks, [&] {
    const auto verdict = file::check_parity(storage::make_driver("posix").value(), path);
    if (!verdict.ok() && verdict.status().code() != ErrorCode::kNotFound) {
      remarks.push_back(verdict.status().message());
    }
    for (size_t i = 0; verdict.ok() && i < verdict->troubles.size(); ++i) {
      const std::string& trouble = verdict->troubles[i].words;
      // What lies on a disk of another node is there, and is to come home; or the disk is lost.
      const bool is_elsewhere = verdict->troubles[i].is_unseen;
      remarks.push_back(
          is_elsewhere ? fmt::format("{}; if it is lost, 'stria repair --place DIRECTORY {}' puts it elsewhere", trouble, path)
                       : fmt::format("{}: 'stria repair {}' puts it back", trouble, path));
    }
  });
  return remarks;
}

FileVerdict verdict_on(Ranks& ranks, const std::string& path) {
  File file = ranks.open(path);
  if (!file.has_checksums()) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("'{}' carries no checksums: it was not written by Stria, or without them", path));
  }
  FileVerdict verdict;
  verdict.damages = file.verify(&verdict.remarks);
  const auto on_parity = remarks_on_parity(ranks, path);
  verdict.remarks.insert(verdict.remarks.end(), on_parity.begin(), on_parity.end());
  return verdict;
}

json verdict_json(const std::string& path, const FileVerdict& verdict) {
  json list = json::array();
  for (const Damage& damage : verdict.damages) {
    list.push_back({{"dataset", damage.dataset}, {"first_row", damage.first_row}, {"last_row", damage.last_row}});
  }
  return {{"file", path}, {"intact", verdict.damages.empty()}, {"damages", list}, {"remarks", verdict.remarks}};
}

std::string damage_text(const Damage& damage) {
  if (damage.dataset.empty()) {
    return "the metadata (names, shapes, types, attributes) are not as they were written";
  }
  const int64_t rows = damage.last_row - damage.first_row;
  return rows == 0 ? fmt::format("dataset '{}' is missing", damage.dataset)
         : rows == 1
             ? fmt::format("dataset '{}' is damaged in block {}", damage.dataset, damage.first_row)
             : fmt::format("dataset '{}' is damaged in blocks {} to {}", damage.dataset, damage.first_row, damage.last_row - 1);
}

std::string verdict_text(const std::string& path, const FileVerdict& verdict) {
  std::string text = verdict.damages.empty() ? fmt::format("{}: complete, every checksum is right\n", path) : "";
  for (const Damage& damage : verdict.damages) {
    text += fmt::format("{}: {}\n", path, damage_text(damage));
  }
  for (const std::string& remark : verdict.remarks) {
    text += fmt::format("{}: note: {}\n", path, remark);
  }
  return text;
}

// Looks at all files, whatever the result for the first. The worst result decides.
int run(Ranks& ranks, const std::vector<std::string>& paths, bool as_json) {
  int status = kDone;
  json all = json::array();
  std::string unusable;
  for (const std::string& path : paths) {
    try {
      const FileVerdict verdict = verdict_on(ranks, path);
      status = std::max(status, verdict.damages.empty() ? kDone : kAnswerIsNo);
      all.push_back(verdict_json(path, verdict));
      print(ranks, as_json ? "" : verdict_text(path, verdict));
    } catch (const Error& error) {
      status = kUnusableInput;
      all.push_back({{"file", path}, {"intact", false}, {"error", error.what()}});
      unusable += fmt::format("{}{}", unusable.empty() ? "" : "; ", error.what());
    }
  }
  if (as_json) {
    print(ranks, (all.size() == 1 ? all[0] : all).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  }
  if (!unusable.empty()) {
    throw Error(ErrorCode::kFormat, unusable);
  }
  return status;
}

}  // namespace

void add_verify(Command app, Action& action) {
  auto paths = std::make_shared<std::vector<std::string>>();
  auto as_json = std::make_shared<bool>(false);
  Command command =
      app.add_subcommand("verify", "check files against their checksums: 0 intact, 1 damaged, 2 not readable as such");
  command.add_option("file", *paths, "the files").required().check(not_empty());
  command.add_flag("--json", *as_json, "answer in JSON");
  command.callback([=, &action] { action = [=](Ranks& ranks) { return run(ranks, *paths, *as_json); }; });
}

}  // namespace stria::tool
