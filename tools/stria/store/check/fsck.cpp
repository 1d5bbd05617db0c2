#include "store/check/fsck.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "report/text.hpp"
#include "storage/striped/call.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

constexpr size_t kPathsAtOnce = 200;

std::string number_text(uint64_t file) {
  return fmt::format("{:016x}", file);
}

/// Looks at a store from both sides.
class StoreCheck {
 public:
  explicit StoreCheck(const StoreAsker& asker) : asker_(asker) {}

  StoreFindings run() {
    const Conditions conditions = conditions_of(asker_.root(), asker_.url());
    for (const auto& server : servers_of(asker_.root(), asker_.url()).servers) {
      if (has_ended(server.place.index, conditions)) {
        miss(server.place, fmt::format("server {} ({}) has ended: start it", server.place.index, address_of(server)));
      } else if (!server.place.address.empty()) {
        look_at_parts(server.place);
      }
    }
    confirm();
    look_at_names();
    find_paths();
    return std::move(findings_);
  }

 private:
  /// `file`: its number, or that of a part of it.
  void add(FaultKind kind, uint64_t file, int64_t server, const std::string& what) {
    findings_.faults.push_back({.kind = kind,
                                .file = wire::file_of_part(file),
                                .server = server,
                                .what = what,
                                .path = {},
                                .parts = {},
                                .mended = {}});
  }

  /// Does it, or notes why it can't be done.
  template <typename Body>
  void attempt(const wire::ServerPlace& server, Body body) {
    try {
      body();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kIo && error.code() != ErrorCode::kUnsupported) {
        throw;
      }
      // Nothing can be looked at when the manager doesn't answer.
      static_cast<void>(servers_of(asker_.root(), asker_.url()));
      miss(server, error.what());
    }
  }

  void miss(const wire::ServerPlace& server, const std::string& why) {
    findings_.all_answered = false;
    findings_.servers.erase(server.index);
    add(FaultKind::kNotLookedAt, 0, server.index, why);
  }

  void look_at_parts(const wire::ServerPlace& server) {
    findings_.servers.emplace(server.index, server.address);
    attempt(server, [&] {
      wire::Parts request;
      wire::PartsListed page;
      do {
        page = asker_.server(server.address, request);
        compare_with_names(server, page);
        request.after = page.entries.empty() ? 0 : page.entries.back().file;
      } while (page.more && !page.entries.empty());
    });
  }

  void compare_with_names(const wire::ServerPlace& server, const wire::PartsListed& page) {
    wire::PartsOf question{server.index, {}};
    for (const auto& part : page.entries) {
      question.files.push_back(part.file);
    }
    const auto answer = asker_.manager<wire::PartsKnown>(wire::Kind::kKnown, question);
    for (size_t i = 0; i < page.entries.size(); ++i) {
      const auto& part = page.entries[i];
      const auto& known = answer.entries.at(i);
      ++findings_.parts;
      findings_.bytes += part.bytes;
      if (known.known == wire::PartKnown::kUnknown || known.known == wire::PartKnown::kElsewhere) {
        lone_[wire::file_of_part(part.file)].push_back({server.index, part.file, part.bytes, part.striped});
      } else if (known.known == wire::PartKnown::kHere && part.striped.known() && part.striped != known.striped) {
        add(FaultKind::kOtherPlace, part.file, server.index,
            fmt::format("the part on server {} was written as part {} of {} in stripes of {} bytes, and its name says part {} "
                        "of {} in stripes of {}",
                        server.index, part.striped.slot, part.striped.slot_count, part.striped.stripe_bytes, known.striped.slot,
                        known.striped.slot_count, known.striped.stripe_bytes));
      }
    }
  }

  /// A file that was removed meanwhile takes its parts with it; one that was made has a name now.
  void confirm() {
    for (auto& [file, parts] : lone_) {
      std::vector<LonePart> without_name;
      for (const LonePart& part : parts) {
        if (!findings_.servers.contains(part.server)) {
          continue;
        }
        const auto known = asker_.known(part.server, part.number);
        const auto now = asker_.server(findings_.servers.at(part.server), {0, {part.number}}).entries.at(0).state;
        const bool is_there = now == wire::PartState::kPresent || now == wire::PartState::kOtherSize;
        if (is_there && known == wire::PartKnown::kUnknown) {
          without_name.push_back(part);
        } else if (is_there && known == wire::PartKnown::kElsewhere) {
          add(FaultKind::kElsewhere, file, part.server,
              fmt::format("server {} has a part of it, and is none of its servers", part.server));
          findings_.faults.back().parts = {part};
        }
      }
      if (!without_name.empty()) {
        int64_t bytes = 0;
        for (const LonePart& part : without_name) {
          bytes += part.bytes;
        }
        add(FaultKind::kNoName, file, -1,
            fmt::format("{} of a file without a name, {}", counted_text(static_cast<int64_t>(without_name.size()), "part"),
                        readable(bytes)));
        findings_.faults.back().parts = std::move(without_name);
      }
    }
  }

  void look_at_names() {
    wire::Named request;
    wire::NamedListed page;
    do {
      page = asker_.manager<wire::NamedListed>(wire::Kind::kNamed, request);
      std::map<int64_t, std::vector<uint64_t>> by_server;
      for (const auto& file : page.entries) {
        findings_.files += file.named ? 1 : 0;
        request.after = file.file;
        for (const int64_t place : file.named ? file.servers : std::vector<int64_t>()) {
          by_server[wire::server_of(place)].push_back(wire::part_number(file.file, wire::is_second(place)));
        }
      }
      for (const auto& [server, files] : by_server) {
        look_at_files(server, files);
      }
    } while (page.more);
  }

  void look_at_files(int64_t server, const std::vector<uint64_t>& files) {
    const auto found = findings_.servers.find(server);
    if (found == findings_.servers.end()) {
      const auto is_missed = [&](const StoreFault& fault) {
        return fault.kind == FaultKind::kNotLookedAt && fault.server == server;
      };
      if (std::none_of(findings_.faults.begin(), findings_.faults.end(), is_missed)) {
        for (const uint64_t file : files) {
          add(FaultKind::kServerGone, file, server, fmt::format("its part on server {} is gone with that server", server));
        }
      }
      return;
    }
    const std::string address = found->second;
    attempt({server, address}, [&] {
      for (size_t first = 0; first < files.size(); first += wire::kMaxListed) {
        const auto begin = files.begin() + static_cast<ptrdiff_t>(first);
        const auto end = begin + static_cast<ptrdiff_t>(std::min(files.size() - first, size_t{wire::kMaxListed}));
        for (const auto& part : asker_.server(address, {0, {begin, end}}).entries) {
          judge(server, part);
        }
      }
    });
  }

  void judge(int64_t server, const wire::PartsListed::Entry& part) {
    using wire::PartState;
    const bool wrong =
        part.state == PartState::kLost || part.state == PartState::kRemoved || part.state == PartState::kOtherSize;
    // Its name may have gone meanwhile, and its part with it.
    if (!wrong || asker_.known(server, part.file) != wire::PartKnown::kHere) {
      return;
    }
    if (part.state == PartState::kLost) {
      add(FaultKind::kLost, part.file, server,
          fmt::format("server {} has lost its part: bring its data/ back from a copy, or remove the file", server));
    } else if (part.state == PartState::kRemoved) {
      add(FaultKind::kRemoved, part.file, server,
          fmt::format("it was removed, and server {} has no part of it any more: its name is from an older copy of the names",
                      server));
      findings_.faults.back().parts = {{server, part.file, 0, {}}};
    } else {
      add(FaultKind::kSize, part.file, server,
          fmt::format("its part on server {} has {} bytes, and was left with {}", server, part.bytes, part.expected_bytes));
    }
  }

  void find_paths() {
    std::vector<size_t> wanted;
    for (size_t i = 0; i < findings_.faults.size(); ++i) {
      if (findings_.faults[i].file != 0 && findings_.faults[i].kind != FaultKind::kNoName) {
        wanted.push_back(i);
      }
    }
    for (size_t first = 0; first < wanted.size(); first += kPathsAtOnce) {
      const size_t end = std::min(wanted.size(), first + kPathsAtOnce);
      wire::PartsOf question;
      for (size_t i = first; i < end; ++i) {
        question.files.push_back(findings_.faults[wanted[i]].file);
      }
      const auto answer = asker_.manager<wire::Paths>(wire::Kind::kPaths, question);
      for (size_t i = first; i < end; ++i) {
        findings_.faults[wanted[i]].path = answer.paths.at(i - first);
      }
    }
  }

  const StoreAsker& asker_;
  StoreFindings findings_;
  std::map<uint64_t, std::vector<LonePart>> lone_;
};

struct FsckArguments {
  std::string url;
  bool as_json = false;
  bool repairs = false;
  bool frees = false;
};

json findings_json(const StoreFindings& findings) {
  json faults = json::array();
  for (const StoreFault& fault : findings.faults) {
    json entry = {{"fault", name_of_fault(fault.kind)}, {"message", fault.what}};
    if (fault.file != 0) {
      entry["file"] = number_text(fault.file);
    }
    if (!fault.path.empty()) {
      entry["path"] = fault.path;
    }
    if (fault.server >= 0) {
      entry["server"] = fault.server;
    }
    for (const LonePart& part : fault.parts) {
      entry["parts"].push_back({{"server", part.server}, {"bytes", part.bytes}});
    }
    if (!fault.mended.empty()) {
      entry["mended"] = fault.mended;
    }
    faults.push_back(std::move(entry));
  }
  return {{"files", findings.files}, {"parts", findings.parts}, {"bytes", findings.bytes}, {"faults", faults}};
}

int report_findings(const FsckArguments& arguments, const StoreFindings& findings) {
  const auto left = std::count_if(findings.faults.begin(), findings.faults.end(),
                                  [](const StoreFault& fault) { return fault.mended.empty(); });
  if (arguments.as_json) {
    fmt::print("{}\n", findings_json(findings).dump(2, ' ', false, json::error_handler_t::replace));
    return left == 0 ? kDone : kAnswerIsNo;
  }
  for (const StoreFault& fault : findings.faults) {
    const std::string who = !fault.path.empty() ? fault.path : fault.file != 0 ? number_text(fault.file) : "";
    fmt::print("{}{}{}{}\n", who, who.empty() ? "" : ": ", fault.what,
               fault.mended.empty() ? "" : fmt::format("; {}", fault.mended));
  }
  const auto mended = static_cast<int64_t>(findings.faults.size()) - left;
  fmt::print("{}, {}, {}: {}\n", counted_text(findings.files, "file"), counted_text(findings.parts, "part"),
             readable(findings.bytes),
             findings.faults.empty()
                 ? "names and parts fit"
                 : fmt::format("{}, {} mended", counted_text(static_cast<int64_t>(findings.faults.size()), "fault"), mended));
  return left == 0 ? kDone : kAnswerIsNo;
}

int run_fsck(const FsckArguments& arguments) {
  const StoreAsker asker(arguments.url);
  const std::string again = fmt::format("repeat 'stria fsck {}{}'",
                                        arguments.frees ? "--free " : (arguments.repairs ? "--repair " : ""), arguments.url);
  StoreFindings findings;
  try {
    findings = check_store(asker);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}; nothing was changed: {}", error.what(), again));
  }
  Status synced;
  if (arguments.repairs || arguments.frees) {
    synced = mend_store(asker, findings, arguments.frees);
  }
  const int answer = report_findings(arguments, findings);
  std::fflush(stdout);
  synced.with_context("what was mended may be undone by a loss of power; " + again).throw_if_error();
  return answer;
}

}  // namespace

const char* name_of_fault(FaultKind kind) {
  constexpr std::array<const char*, 8> kNames{"no name", "elsewhere", "other place", "lost",
                                              "removed", "size",      "server gone", "not looked at"};
  return kNames[static_cast<size_t>(kind)];
}

wire::PartsListed StoreAsker::server(const std::string& address, const wire::Parts& request) const {
  storage::Store::Borrowed link = storage::Store::borrow(root_.store, address).value();
  storage::Call call;
  call.link = link.link();
  call.kind = wire::Kind::kParts;
  call.body = wire::encode(request);
  storage::run_calls({&call, 1}).with_context(url_).throw_if_error();
  auto listed = wire::decode<wire::PartsListed>(call.reply).value();
  if (!request.files.empty() && listed.entries.size() != request.files.size()) {
    throw Error(ErrorCode::kFormat, fmt::format("server {} tells of other files than it was asked for", address));
  }
  return listed;
}

StoreFindings check_store(const StoreAsker& asker) {
  return StoreCheck(asker).run();
}

void add_fsck(Command app, Action& action) {
  auto arguments = std::make_shared<FsckArguments>();
  Command command = app.add_subcommand("fsck", "compare a store's names with the parts on its servers");
  command.add_option("store", arguments->url, "stria://SERVER").required();
  command.add_flag("--json", arguments->as_json, "answer in JSON");
  command.add_flag("--repair", arguments->repairs,
                   "give files without a name one in /lost+found, remove names of files that were removed");
  command.add_flag("--free", arguments->frees, "the same, but remove parts that no name needs");
  command.callback([=, &action] { action = [=](Ranks&) { return run_fsck(*arguments); }; });
}

}  // namespace stria::tool
