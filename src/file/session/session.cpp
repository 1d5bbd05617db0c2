#include "file/session/session.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "access/plan/planner.hpp"
#include "base/hash.hpp"
#include "base/out_of_memory.hpp"
#include "file/define/names.hpp"
#include "storage/path.hpp"

namespace stria::file {

namespace {

constexpr int64_t kMostRows = int64_t{1} << 62;

// Returns the hints that all ranks must share; a node's kernel may lack a driver.
Hints shared_hints(const access::ResolvedHints& hints) {
  Hints shared = access::effective_hints(hints);
  shared.erase("stria_driver");
  return shared;
}

}  // namespace

Session::Session(Environment environment, std::string path, std::shared_ptr<RollCall> roll_call)
    : environment_(std::move(environment)),
      path_(std::move(path)),
      stored_path_(environment_.absolute_paths ? storage::absolute_path(path_) : path_),
      identity_(*environment_.comm),
      meetings_(environment_.comm, std::move(roll_call), path_, environment_.puts_off),
      accounts_(path_) {}

uint64_t hash_of_opening(const Environment& environment, const std::string& path) {
  std::string text = path + "\n";
  for (const auto& [name, value] : shared_hints(environment.hints)) {
    text += name + "=" + value + "\n";
  }
  return hash_bytes(std::as_bytes(std::span(text)));
}

DefinitionText describe_opening(const Environment& environment, const std::string& path, const char* call) {
  DefinitionText text{call + std::string("()"), {{"the path", "'" + path + "'"}}};
  for (const auto& [name, value] : shared_hints(environment.hints)) {
    text.arguments.emplace_back("the hint " + name, "'" + value + "'");
  }
  return text;
}

Status Session::begin_call() {
  switch (calls_.enter()) {
    case CallGate::Entry::kOtherThread:
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("'{}' is in use by another thread: only one thread at a time may use a file and its datasets", path_));
    case CallGate::Entry::kInReport:
      return meetings_.refuse(Status(ErrorCode::kInvalidArgument, "a report of progress must not use its file"));
    case CallGate::Entry::kInside:
      break;
  }
  if (calls_.take_refusal()) {
    meetings_.poison(or_out_of_memory([&] {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("'{}': a call was refused because another thread used the file", path_));
    }));
  }
  return Status();
}

// What the report throws is for its caller, which drops it.
void Session::set_progress(std::function<void(const Progress&)> report) {
  progress_ = nullptr;
  if (report) {
    progress_ = [this, report = std::move(report)](const Progress& progress) { calls_.run(report, progress); };
  }
}

// A forked process leaves the files of its parent alone.
void Session::leave(std::string_view reason) noexcept {
  if (!meetings_.is_open()) {
    return;
  }
  if (calls_.is_of_this_process()) {
    meetings_.leave(reason);
  } else {
    meetings_.end();
  }
}

template <typename Make>
Status Session::record_made(const Make& make) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  Status status = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Transfer transfer, make());
    if (transfer.region.size() > 0) {
      STRIA_RETURN_IF_ERROR(secure(transfer));
      pending_.push_back(std::move(transfer));
    }
    return Status();
  });
  meetings_.poison(status);
  return status;
}

Status Session::record(int dataset, const Hyperslab& slab, const Memory& memory) {
  STRIA_RETURN_IF_ERROR(catalog_[dataset].problem);  // All ranks know it.
  return record_made([&]() -> Result<Transfer> {
    STRIA_ASSIGN_OR_RETURN(Transfer transfer, make_transfer(dataset, catalog_[dataset], slab, memory));
    STRIA_RETURN_IF_ERROR(carry_records(catalog_[dataset], is_written(), transfer));
    return transfer;
  });
}

Status Session::record(int dataset, const ElementMap& elements, const Memory& memory) {
  STRIA_RETURN_IF_ERROR(catalog_[dataset].problem);
  return record_made([&] { return make_transfer(dataset, catalog_[dataset], elements, memory); });
}

Result<Rows> place_rows(Session& session, int64_t count) {
  Comm& comm = session.comm();
  Status mine;
  if (count < 0 || count > (kMostRows / comm.size())) {
    mine = Status(ErrorCode::kInvalidArgument, fmt::format("'{}': place_rows() of {} rows", session.path(), count));
  }
  std::array<int64_t, 1> total = {count};
  STRIA_RETURN_IF_ERROR(session.meetings().meet(Call::kPlaceRows, mine, total));
  std::array<int64_t, 1> first = {count};
  comm.exclusive_scan(first);
  return Rows{.first = first[0], .count = count, .total = total[0]};
}

Result<int> Session::find(const std::string& dataset_path) {
  const auto found = catalog_.find(dataset_path);
  if (!found) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no dataset '{}'", path_, without_leading_slash(dataset_path)));
  }
  return *found;
}

Status Session::agree_on_file(Call call, const Status& mine, storage::File* file, const std::string& found_path) {
  STRIA_ASSIGN_OR_RETURN(
      FoundFile found,
      agree_on_open(meetings_, call, mine,
                    {.file = file, .file_bytes = report().file_bytes, .found_path = found_path, .known_path = stored_path_}));
  capabilities_ = found.capabilities;
  identity_.set(found.identity);
  accounts_.report().file_bytes = found.file_bytes;
  if (!found.path.empty()) {
    stored_path_ = std::move(found.path);
  }
  return Status();
}

Hints Session::hints_in_effect() const {
  Hints hints = access::effective_hints(environment_.hints);
  hints["cb_buffer_size"] = std::to_string(access::usual_buffer_bytes(capabilities_, environment_.hints, comm()));
  return hints;
}

}  // namespace stria::file
