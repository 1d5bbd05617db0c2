#include "file/session/open_file.hpp"

#include <fmt/format.h>

#include <array>
#include <span>

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

// Returns a hash of what all ranks must say alike of the opening, without the call.
uint64_t hash_of_opening(const OpenFile& file) {
  std::string text = file.path + "\n";
  for (const auto& [name, value] : shared_hints(file.environment.hints)) {
    text += name + "=" + value + "\n";
  }
  return hash_bytes(std::as_bytes(std::span(text)));
}

// Keeps what `make` returns as pending.
template <typename Make>
Status record_made(OpenFile& file, PutGuard* guard, const Make& make) {
  STRIA_RETURN_IF_ERROR(file.meetings.check_open());
  Status status = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Transfer transfer, make());
    if (transfer.region.size() > 0) {
      STRIA_RETURN_IF_ERROR(guard != nullptr ? guard->take(transfer) : Status());
      file.pending.push_back(std::move(transfer));
    }
    return Status();
  });
  file.meetings.poison(status);
  return status;
}

}  // namespace

OpenFile::OpenFile(Call by, Environment opened_with, std::string given_path, std::shared_ptr<RollCall> roll_call)
    : opened_by(by),
      environment(std::move(opened_with)),
      path(std::move(given_path)),
      stored_path(environment.absolute_paths ? storage::absolute_path(path) : path),
      identity(*environment.comm),
      meetings(environment.comm, std::move(roll_call), path, environment.puts_off),
      accounts(path) {}

Status begin_call(OpenFile& file) {
  switch (file.calls.enter()) {
    case CallGate::Entry::kOtherThread:
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("'{}' is in use by another thread: only one thread at a time may use a file and its datasets",
                                file.path));
    case CallGate::Entry::kInReport:
      return file.meetings.refuse(Status(ErrorCode::kInvalidArgument, "a report of progress must not use its file"));
    case CallGate::Entry::kInside:
      break;
  }
  if (file.calls.take_refusal()) {
    file.meetings.poison(or_out_of_memory([&] {
      return Status(ErrorCode::kInvalidArgument,
                    fmt::format("'{}': a call was refused because another thread used the file", file.path));
    }));
  }
  return Status();
}

// A forked process leaves the files of its parent alone.
void leave(OpenFile& file, std::string_view reason) noexcept {
  if (!file.meetings.is_open()) {
    return;
  }
  if (file.calls.is_of_this_process()) {
    file.meetings.leave(reason);
  } else {
    file.meetings.end();
  }
}

// What the report throws is for its caller, which drops it.
void set_progress(OpenFile& file, std::function<void(const Progress&)> report) {
  file.progress = nullptr;
  if (report) {
    file.progress = [&calls = file.calls, report = std::move(report)](const Progress& progress) {
      calls.run(report, progress);
    };
  }
}

Status record(OpenFile& file, PutGuard* guard, int dataset, const Hyperslab& slab, const Memory& memory) {
  const DatasetEntry& entry = file.catalog[dataset];
  STRIA_RETURN_IF_ERROR(entry.problem);  // All ranks know it.
  return record_made(file, guard, [&]() -> Result<Transfer> {
    STRIA_ASSIGN_OR_RETURN(Transfer transfer, make_transfer(dataset, entry, slab, memory));
    STRIA_RETURN_IF_ERROR(carry_records(entry, file.is_written(), transfer));
    return transfer;
  });
}

Status record(OpenFile& file, PutGuard* guard, int dataset, const ElementMap& elements, const Memory& memory) {
  const DatasetEntry& entry = file.catalog[dataset];
  STRIA_RETURN_IF_ERROR(entry.problem);
  return record_made(file, guard, [&] { return make_transfer(dataset, entry, elements, memory); });
}

Result<int> find_dataset(const OpenFile& file, const std::string& dataset_path) {
  const auto found = file.catalog.find(dataset_path);
  if (!found) {
    return Status(ErrorCode::kNotFound,
                  fmt::format("'{}' has no dataset '{}'", file.path, without_leading_slash(dataset_path)));
  }
  return *found;
}

Status agree_on_file(OpenFile& file, const Status& mine, storage::File* found, const std::string& found_path) {
  Report& report = file.accounts.report();
  STRIA_ASSIGN_OR_RETURN(
      FoundFile agreed,
      agree_on_open(
          file.meetings, file.opened_by, mine,
          {.file = found, .file_bytes = report.file_bytes, .found_path = found_path, .known_path = file.stored_path}));
  file.capabilities = agreed.capabilities;
  file.identity.set(agreed.identity);
  report.file_bytes = agreed.file_bytes;
  if (!agreed.path.empty()) {
    file.stored_path = std::move(agreed.path);
  }
  return Status();
}

Result<Rows> place_rows(OpenFile& file, int64_t count) {
  Comm& comm = file.comm();
  Status mine;
  if (count < 0 || count > (kMostRows / comm.size())) {
    mine = Status(ErrorCode::kInvalidArgument, fmt::format("'{}': place_rows() of {} rows", file.path, count));
  }
  std::array<int64_t, 1> total = {count};
  STRIA_RETURN_IF_ERROR(file.meetings.meet(Call::kPlaceRows, mine, total));
  std::array<int64_t, 1> first = {count};
  comm.exclusive_scan(first);
  return Rows{.first = first[0], .count = count, .total = total[0]};
}

access::Plan plan_move(OpenFile& file, const access::RequestShape& shape) {
  access::MemoryReserve& reserve = file.meetings.reserve();
  access::Plan plan =
      reserve.surely([&] { return access::make_plan(shape, file.capabilities, file.environment.hints, file.comm()); });
  reserve.attempt([&] {
    file.accounts.note_method(plan);
    file.accounts.count_move(plan, file.environment);
  });
  return plan;
}

const char* how_opened(const OpenFile& file) {
  if (file.grows()) {
    return "is open to be added to: use append_rows() or update(), or open() to read";
  }
  return file.is_written() ? "is being written" : "is open to be read";
}

Hints hints_in_effect(const OpenFile& file) {
  Hints hints = access::effective_hints(file.environment.hints);
  hints["cb_buffer_size"] = std::to_string(access::usual_buffer_bytes(file.capabilities, file.environment.hints, file.comm()));
  return hints;
}

void log_opening(OpenFile& file, uint64_t options, std::function<OpeningOptions()> describe) {
  file.meetings.log().add(combine_hashes(hash_of_opening(file), options), 1, [&file, describe = std::move(describe)] {
    DefinitionText text{call_name(file.opened_by), {{"the path", "'" + file.path + "'"}}};
    for (const auto& [name, value] : shared_hints(file.environment.hints)) {
      text.arguments.emplace_back("the hint " + name, "'" + value + "'");
    }
    for (auto& option : describe()) {
      text.arguments.push_back(std::move(option));
    }
    return text;
  });
}

}  // namespace stria::file
