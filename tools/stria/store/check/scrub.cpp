// stria scrub: reads all that a store keeps, and lists what is damaged.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "report/text.hpp"
#include "storage/striped/slot_servers.hpp"
#include "store/progress.hpp"
#include "store/store_command.hpp"

namespace stria::tool {

namespace {

using nlohmann::json;

constexpr int64_t kScrubBlockBytes = 4096;

struct ScrubArguments {
  std::string path;
  bool as_json = false;
  bool accept = false;
};

/// A file of the store, open as long as it is looked at.
struct File {
  explicit File(const std::string& where, bool accept) : url(where) {
    const StoreFile found = find_in_store(url);
    wire::Open request;
    request.path = found.path;
    request.mode = accept ? wire::OpenMode::kReadWrite : wire::OpenMode::kRead;
    const auto opened = found.store->open(request);
    opened.status().with_context(fmt::format("scrub '{}'", url)).throw_if_error();
    store = found.store;
    handle = request.handle;
    servers = std::make_unique<storage::SlotServers>(store, *opened, handle);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { static_cast<void>(store->close(handle)); }

  std::string url;
  std::shared_ptr<storage::Store> store;
  uint64_t handle = 0;
  std::unique_ptr<storage::SlotServers> servers;
};

const char* name_of(wire::BlockFault fault) {
  constexpr std::array<const char*, 3> kNames{"damaged", "in flight", "unreadable"};
  return kNames[static_cast<size_t>(fault) - 1];
}

// A file or directory, or a server's part of a file.
constexpr const char* kNotLookedAt = "not looked at";

/// The scrub of a whole store or a part of it.
class Scrubbing {
 public:
  explicit Scrubbing(const ScrubArguments& arguments) : arguments_(arguments), progress_(0) {}

  /// Looks at all files there, one after another. What can't be looked at doesn't keep the rest.
  void look_below(const std::string& url) {
    if (is_directory(url)) {
      for_directory(url);
    } else {
      for_file(url);
    }
  }

  int64_t files() const { return files_; }

  /// `whole`: everything was looked at.
  int report(bool whole) const {
    int64_t wrong = 0;
    std::set<std::string> paths;
    std::set<std::string> missed;
    for (const json& fault : faults_) {
      const bool accepted = arguments_.accept && fault["fault"] == name_of(wire::BlockFault::kInFlight);
      wrong += accepted ? 0 : 1;
      paths.insert(fault["path"].get<std::string>());
      if (fault["fault"] == kNotLookedAt) {
        missed.insert(fault["path"].get<std::string>());
      }
    }
    if (arguments_.as_json) {
      const json all = {
          {"files", files_}, {"bytes", bytes_}, {"faults", faults_}, {"accepted", arguments_.accept}, {"whole", whole}};
      fmt::print("{}\n", all.dump(2, ' ', false, json::error_handler_t::replace));
      return wrong == 0 ? kDone : kAnswerIsNo;
    }
    for (const json& fault : faults_) {
      fmt::print("{}: {}\n", fault["path"].get<std::string>(), line_of(fault));
    }
    const std::string not_seen =
        missed.empty() ? "" : fmt::format(", {} of which can't be looked at as a whole", missed.size());
    fmt::print("{}, {}: {}\n", counted_text(files_, "file"), readable(bytes_),
               faults_.empty() ? "every block is as it was written"
                               : fmt::format("{} in {}{}", counted_text(faults_.size(), "fault"),
                                             counted_text(paths.size(), "file"), not_seen));
    return wrong == 0 ? kDone : kAnswerIsNo;
  }

 private:
  struct Slot {
    int64_t number = 0;
    int64_t next_block = 0;
    bool done = false;
  };

  void for_directory(const std::string& url) {
    std::vector<StoreEntry> entries;
    attempt(url, [&] { entries = entries_of(url); });
    for (const StoreEntry& entry : entries) {
      const std::string below = joined(url, entry.name);
      if (entry.is_directory) {
        for_directory(below);
      } else if (!entry.is_link) {
        for_file(below);
      }
    }
  }

  void for_file(const std::string& url) {
    ++files_;
    attempt(url, [&] { look_at(url); });
  }

  /// What was removed meanwhile is no fault. What the user has named must be there and open to
  /// them; and without the manager nothing can be looked at.
  template <typename Body>
  void attempt(const std::string& url, Body body) {
    try {
      body();
    } catch (const Error& error) {
      const bool is_gone = error.code() == ErrorCode::kIo;
      if (url == arguments_.path && !is_gone) {
        throw;
      }
      if (is_gone) {
        static_cast<void>(servers_of(find_in_store(url), arguments_.path));
      }
      if (error.code() != ErrorCode::kNotFound) {
        faults_.push_back({{"path", url}, {"fault", kNotLookedAt}, {"message", error.what()}});
      }
    }
  }

  void look_at(const std::string& url) {
    const File file(url, arguments_.accept);
    std::vector<Slot> slots;
    for (int64_t slot = 0; slot < file.servers->layout().slot_count; ++slot) {
      slots.push_back({slot});
    }
    // All servers of the file work at the same time.
    while (std::any_of(slots.begin(), slots.end(), [](const Slot& slot) { return !slot.done; })) {
      ask(file, slots);
      progress_.say(bytes_);
    }
  }

  void ask(const File& file, std::vector<Slot>& slots) {
    std::vector<storage::Store::Borrowed> links;
    std::vector<storage::Call> calls;
    std::vector<Slot*> asked;
    for (Slot& slot : slots) {
      if (!slot.done) {
        links.push_back(file.servers->borrow(slot.number).value());
        calls.push_back(question(file, slot, links.back()));
        asked.push_back(&slot);
      }
    }
    static_cast<void>(storage::run_calls(calls));  // the outcome of each call is looked at below
    for (size_t i = 0; i < calls.size(); ++i) {
      follow(file, *asked[i], calls[i]);
      take(file, *asked[i], calls[i]);
    }
  }

  storage::Call question(const File& file, const Slot& slot, storage::Store::Borrowed& link) const {
    const wire::Scrub request{file.servers->part(slot.number), {}, slot.next_block, arguments_.accept};
    return file.servers->call_to(link, wire::Kind::kScrub, wire::encode(request));
  }

  /// Asks again where the part is now, or by the ticket of a manager that has taken over.
  void follow(const File& file, const Slot& slot, storage::Call& call) const {
    bool was_asked = true;
    call.outcome = file.servers->follow([&]() -> Status {
      if (std::exchange(was_asked, false)) {
        return call.outcome;
      }
      STRIA_ASSIGN_OR_RETURN(storage::Store::Borrowed link, file.servers->borrow(slot.number));
      storage::Call again = question(file, slot, link);
      const Status outcome = storage::run_calls({&again, 1});
      call.reply = std::move(again.reply);
      return outcome;
    });
  }

  void take(const File& file, Slot& slot, const storage::Call& call) {
    const std::string server = file.servers->address(slot.number);
    json fault = {{"path", file.url}, {"server", server}};
    const bool is_damaged = call.outcome.code() == ErrorCode::kCorrupted;
    if (is_damaged || call.outcome.code() == ErrorCode::kIo) {
      fault["fault"] = is_damaged ? name_of(wire::BlockFault::kDamaged) : kNotLookedAt;
      fault["message"] = call.outcome.message();
      faults_.push_back(fault);
      slot.done = true;
      return;
    }
    call.outcome.with_context(fmt::format("scrub '{}'", file.url)).throw_if_error();
    const auto part = wire::decode<wire::Scrubbed>(call.reply).value();
    if (!part.done && part.next_block <= slot.next_block) {
      throw Error(ErrorCode::kFormat, fmt::format("server {} goes round in circles", server));
    }
    const int64_t end = std::min(part.next_block * kScrubBlockBytes, part.local_bytes);
    bytes_ += std::max<int64_t>(0, end - slot.next_block * kScrubBlockBytes);
    for (const wire::Scrubbed::Bad& bad : part.bad) {
      const wire::Layout& layout = file.servers->layout();
      const int64_t last = std::min((bad.block + 1) * kScrubBlockBytes, part.local_bytes) - 1;
      fault["fault"] = name_of(bad.fault);
      fault["block"] = bad.block;
      fault["begin"] = layout.place_of(slot.number, bad.block * kScrubBlockBytes);
      fault["end"] = layout.place_of(slot.number, last) + 1;
      faults_.push_back(fault);
    }
    slot.next_block = part.next_block;
    slot.done = part.done;
  }

  std::string line_of(const json& fault) const {
    if (fault.contains("message")) {
      return fault["message"];
    }
    const std::string what = fault["fault"];
    const bool accepted = arguments_.accept && what == name_of(wire::BlockFault::kInFlight);
    return fmt::format("bytes {} to {} (server {}, block {}) {}", fault["begin"].get<int64_t>(), fault["end"].get<int64_t>(),
                       fault["server"].get<std::string>(), fault["block"].get<int64_t>(),
                       accepted ? "were in flight when the server ended, and are taken as they are" : "are " + what);
  }

  const ScrubArguments& arguments_;
  Progress progress_;
  int64_t files_ = 0;
  int64_t bytes_ = 0;
  json faults_ = json::array();
};

int run_scrub(const ScrubArguments& arguments) {
  Scrubbing scrubbing(arguments);
  try {
    scrubbing.look_below(arguments.path);
  } catch (const Error& error) {
    if (scrubbing.files() == 0) {
      throw;
    }
    scrubbing.report(false);
    std::fflush(stdout);
    throw Error(error.code(), fmt::format("{}; the scrub ended with file {}: repeat 'stria scrub{} {}'", error.what(),
                                          scrubbing.files(), arguments.accept ? " --accept" : "", arguments.path));
  }
  return scrubbing.report(true);
}

}  // namespace

void add_scrub(Command app, Action& action) {
  auto arguments = std::make_shared<ScrubArguments>();
  Command command = app.add_subcommand("scrub", "compare all that a store keeps with its checksums, as the disks give it");
  command.add_option("path", arguments->path, "stria://SERVER, or a file or directory of it").required();
  command.add_flag("--json", arguments->as_json, "answer in JSON");
  command.add_flag("--accept", arguments->accept,
                   "take blocks that were being written when a server was killed or lost its power as they are");
  command.callback([=, &action] { action = [=](Ranks&) { return run_scrub(*arguments); }; });
}

}  // namespace stria::tool
