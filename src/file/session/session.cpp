#include "file/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "access/plan/facts.hpp"
#include "access/plan/planner.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "file/define/names.hpp"
#include "file/meet/outcome_message.hpp"
#include "storage/path.hpp"
#include "trace/record/recorder.hpp"
#include "trace/record/span.hpp"

namespace stria::file {

namespace {

constexpr size_t kReserveBytes = 64 << 10;
constexpr size_t kReserveBytesARank = 64;
constexpr int64_t kMostRows = int64_t{1} << 62;

// What a rank adds to the first sum of a meeting, by which all ranks count those that failed.
constexpr int64_t kOneFailed = 1;
constexpr int64_t kPutsOff = int64_t{1} << 32;

// The hints that all ranks must share; a node's kernel may lack a driver.
Hints shared_hints(const access::ResolvedHints& hints) {
  Hints shared = access::effective_hints(hints);
  shared.erase("stria_driver");
  return shared;
}

/// Where the bytes of transfers lie, if all are of one dataset; of all ranks once they have met.
struct OneRegion {
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  // The numbers of the first and of the last dataset, and the first byte and the end within it; of
  // lasts the negative ones, of which the least is wanted too.
  std::array<int64_t, RollCall::kMostLeast> least = {kNone, kNone, kNone, kNone};

  explicit OneRegion(std::span<const Transfer> transfers) {
    for (const Transfer& transfer : transfers) {
      const std::array<int64_t, 4> own = {transfer.dataset, -transfer.dataset,
                                          transfer.displacement + transfer.region.true_lower_bound(),
                                          -transfer.displacement - transfer.region.true_upper_bound()};
      std::transform(own.begin(), own.end(), least.begin(), least.begin(), [](int64_t a, int64_t b) { return std::min(a, b); });
    }
  }
  /// From the first to the last; 0 where they are of several datasets, or there are none.
  int64_t bytes() const { return least[0] != kNone && least[0] == -least[1] ? -least[3] - least[2] : 0; }
};

}  // namespace

Session::Session(Environment environment, std::string path, std::shared_ptr<RollCall> roll_call)
    : environment_(std::move(environment)),
      path_(std::move(path)),
      stored_path_(environment_.absolute_paths ? storage::absolute_path(path_) : path_),
      identity_(*environment_.comm),
      roll_call_(std::move(roll_call)),
      trace_id_(trace::Recorder::instance().file(path_)),
      counters_(&trace::Recorder::instance().counters(trace_id_)) {}

WaitLimits Session::wait_limits() const {
  const access::ResolvedHints& hints = environment_.hints;
  return {static_cast<double>(hints.wait_warning_s), static_cast<double>(hints.wait_deadline_s)};
}

CallNote Session::note(const char* call) const {
  return CallNote(call, path_, wait_limits());
}

// If there is too little memory even for this, twice, the others can't be told.
std::shared_ptr<RollCall> Session::begin_roll_call(Comm& comm) {
  access::MemoryReserve none;
  const int number = comm.innermost().count_file();
  return none.surely([&] { return std::make_shared<RollCall>(comm, number); });
}

Status Session::give_up_opening(Comm& comm, RollCall& roll_call, Call call, const Status& why) {
  std::array<int64_t, 1> failures = {kOneFailed};
  access::MemoryReserve none;
  STRIA_RETURN_IF_ERROR(roll_call.meet(call, failures, none));
  return comm.agree(why);
}

uint64_t Session::hash_of_opening() const {
  std::string text = path_ + "\n";
  for (const auto& [name, value] : shared_hints(environment_.hints)) {
    text += name + "=" + value + "\n";
  }
  return hash_bytes(std::as_bytes(std::span(text)));
}

DefinitionText Session::describe_opening(const char* call) const {
  DefinitionText text{call + std::string("()"), {{"the path", "'" + path_ + "'"}}};
  for (const auto& [name, value] : shared_hints(environment_.hints)) {
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
      return refuse(Status(ErrorCode::kInvalidArgument, "a report of progress must not use its file"));
    case CallGate::Entry::kInside:
      break;
  }
  if (calls_.take_refusal()) {
    poison(or_out_of_memory([&] {
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

void Session::poison(const Status& status) {
  if (poisoned_.ok() && !status.ok()) {
    poisoned_ = status;
  }
}

Status Session::set_reserve_aside() {
  return or_out_of_memory([&] {
    reserve_.set_aside(kReserveBytes + kReserveBytesARank * static_cast<size_t>(comm().size()));
    return Status();
  });
}

Status Session::check_open() const {
  if (!roll_call_->ended().ok()) {
    return roll_call_->ended().with_context(fmt::format("'{}'", path_));
  }
  return finished_ ? Status(ErrorCode::kInvalidArgument, fmt::format("'{}' was committed or abandoned before", path_))
                   : Status();
}

void Session::leave(std::string_view reason) noexcept {
  if (!finished_) {
    finished_ = true;
    if (calls_.is_of_this_process()) {
      roll_call_->leave(reason, reserve_);
    }
  }
}

Status Session::meet(Call call, const Status& mine, std::span<int64_t> sums, std::span<int64_t> least) {
  STRIA_RETURN_IF_ERROR(check_open());
  std::array<int64_t, RollCall::kMostSums> words{};
  const std::span<int64_t> all = std::span(words).first(1 + sums.size());
  all[0] = mine.ok() ? 0 : kOneFailed + (environment_.puts_off ? kPutsOff : 0);
  std::copy(sums.begin(), sums.end(), all.begin() + 1);
  STRIA_RETURN_IF_ERROR(roll_call_->meet(call, all, reserve_, least));
  if (all[0] != 0) {
    put_off_ = all[0] >= kPutsOff;
    return comm().agree(mine);
  }
  std::copy(all.begin() + 1, all.end(), sums.begin());
  return Status();
}

Status Session::meet_and_share(Call call, const Status& mine, std::vector<std::byte>& bytes) {
  std::array<int64_t, 1> size = {is_root() ? static_cast<int64_t>(bytes.size()) : 0};
  STRIA_RETURN_IF_ERROR(meet(call, mine, size));
  return share_bytes(comm(), size[0], bytes);
}

Status Session::refuse(const Status& status) {
  const Status why = status.with_context(fmt::format("'{}'", path_));
  poison(why);
  return why;
}

template <typename Make>
Status Session::record_made(const Make& make) {
  STRIA_RETURN_IF_ERROR(check_open());
  Status status = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Transfer transfer, make());
    if (transfer.region.size() > 0) {
      STRIA_RETURN_IF_ERROR(secure(transfer));
      pending_.push_back(std::move(transfer));
    }
    return Status();
  });
  poison(status);
  return status;
}

Status Session::record(int dataset, const Hyperslab& slab, const Memory& memory) {
  STRIA_RETURN_IF_ERROR(catalog_[dataset].problem);  // which all ranks know
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

Result<Rows> Session::place_rows(int64_t count) {
  Status mine;
  if (count < 0 || count > (kMostRows / comm().size())) {
    mine = Status(ErrorCode::kInvalidArgument, fmt::format("'{}': place_rows() of {} rows", path_, count));
  }
  std::array<int64_t, 1> total = {count};
  STRIA_RETURN_IF_ERROR(meet(Call::kPlaceRows, mine, total));
  std::array<int64_t, 1> first = {count};
  comm().exclusive_scan(first);
  return Rows{.first = first[0], .count = count, .total = total[0]};
}

Result<int> Session::find(const std::string& dataset_path) {
  const auto found = catalog_.find(dataset_path);
  if (!found) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' {}", path_, why_missing(without_leading_slash(dataset_path))));
  }
  return *found;
}

std::string Session::why_missing(const std::string& dataset_path) const {
  return fmt::format("has no dataset '{}'", dataset_path);
}

void Session::add_to(access::RequestShape& shape, const Transfer& transfer) {
  shape.total_bytes += transfer.region.size();
  shape.piece_count += transfer.region.piece_count();
  shape.span_bytes += transfer.region.true_upper_bound() - transfer.region.true_lower_bound();
}

Result<Agreed> Session::agree_on_request(Call call, bool write, const Aside& aside) {
  const trace::Span span(trace::kind(trace::BuiltIn::kPlan));
  access::RequestShape own;
  for (const Transfer& transfer : pending_) {
    add_to(own, transfer);
  }
  OneRegion region(pending_);
  // One sum tells everything.
  const auto terms = log_terms();
  constexpr size_t kFirst = 5;
  std::array<int64_t, kFirst + terms.size()> sums = {own.total_bytes, own.piece_count, aside.useful_bytes, aside.sum_bytes,
                                                     own.span_bytes};
  std::copy(terms.begin(), terms.end(), sums.begin() + kFirst);
  STRIA_RETURN_IF_ERROR(meet(call, poisoned_, sums, region.least));
  STRIA_RETURN_IF_ERROR(check_log_terms(std::span(sums).last<terms.size()>()));
  report_.useful_bytes += sums[0] + sums[2];
  return Agreed{.shape = {.total_bytes = sums[0],
                          .piece_count = sums[1],
                          .write = write,
                          .in_lockstep = true,
                          .span_bytes = sums[4],
                          .region_bytes = region.bytes()},
                .sum_bytes = sums[3],
                .useful_bytes = sums[2]};
}

access::RequestShape Session::with_lanes(access::RequestShape shape) const {
  shape.lane_count = 0;
  for (const DatasetEntry& dataset : catalog_.datasets()) {
    if (dataset.data_offset >= 0) {
      shape.hull_bytes += dataset.is_interleaved() ? dataset.data_bytes() : dataset.extent().size();
      ++shape.lane_count;
    }
  }
  return shape;
}

// The hash of the calls, that of the contents where this rank has given all, and how
// many ranks have.
std::array<int64_t, 2 * kEqualityTerms + 1> Session::log_terms() const {
  std::array<int64_t, 2 * kEqualityTerms + 1> terms{};
  const auto calls = equality_terms(log_.hash());
  std::copy(calls.begin(), calls.end(), terms.begin());
  if (log_.has_all_contents()) {
    const auto contents = equality_terms(log_.content_hash());
    std::copy(contents.begin(), contents.end(), terms.begin() + kEqualityTerms);
    terms.back() = 1;
  }
  return terms;
}

Status Session::check_log_terms(std::span<const int64_t, 2 * kEqualityTerms + 1> sums) {
  const auto giving = static_cast<int>(sums.back());
  if (all_equal(sums.first<kEqualityTerms>(), comm().size()) &&
      all_equal(sums.subspan<kEqualityTerms, kEqualityTerms>(), giving)) {
    return Status();
  }
  const Status difference = log_.explain(comm());
  return Status(
      ErrorCode::kInvalidArgument,
      fmt::format("the ranks don't define the same datasets, attributes and tables, or differ in options or hints: {}",
                  difference.message()));
}

Status Session::agree_on_open(Call call, const Status& mine, storage::File* file, const std::string& found_path) {
  struct Opened {
    storage::Capabilities capabilities;
    storage::Identity identity;
    int64_t file_bytes = 0;
    int64_t path_bytes = 0;  // 0: it is the one that all ranks have
  };
  static_assert(std::is_trivially_copyable_v<Opened>);
  constexpr size_t kWords = (sizeof(Opened) + sizeof(int64_t) - 1) / sizeof(int64_t);
  const auto terms = log_terms();
  std::array<int64_t, kWords + terms.size()> words{};  // the sum of the first ones is rank 0's
  std::copy(terms.begin(), terms.end(), words.begin() + kWords);
  Opened opened;
  if (is_root() && file != nullptr) {
    const auto identity = file->identity();
    opened = {file->capabilities(), identity.ok() ? *identity : storage::Identity(), report_.file_bytes,
              found_path == stored_path_ ? 0 : static_cast<int64_t>(found_path.size())};
    std::memcpy(words.data(), &opened, sizeof opened);
  }
  STRIA_RETURN_IF_ERROR(meet(call, mine, words));
  STRIA_RETURN_IF_ERROR(check_log_terms(std::span(words).last<terms.size()>()));
  std::memcpy(static_cast<void*>(&opened), words.data(), sizeof opened);
  capabilities_ = opened.capabilities;
  identity_.set(opened.identity);
  report_.file_bytes = opened.file_bytes;
  return opened.path_bytes > 0 ? share_path(opened.path_bytes, found_path) : Status();
}

Status Session::share_path(int64_t path_bytes, const std::string& found_path) {
  std::vector<std::byte> bytes;
  if (is_root()) {
    const auto mine = std::as_bytes(std::span(found_path));
    bytes.assign(mine.begin(), mine.end());
  }
  STRIA_RETURN_IF_ERROR(share_bytes(comm(), path_bytes, bytes));
  stored_path_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Status();
}

void Session::note_time() {
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count();
  counters_->add_phases(report_.phases, counted_phases_);
  counted_phases_ = report_.phases;
}

void Session::count_transfer(bool put, int64_t bytes) {
  counters_->call(put ? trace::Direction::kWrite : trace::Direction::kRead, bytes);
}

Hints Session::hints_in_effect() const {
  Hints hints = access::effective_hints(environment_.hints);
  hints["cb_buffer_size"] = std::to_string(access::usual_buffer_bytes(capabilities_, environment_.hints, *environment_.comm));
  return hints;
}

void Session::note_plan(const access::Plan& plan) {
  report_.method = access::method_name(plan.method());
  report_.reason = plan.reason;
  trace_plan(plan);
}

void Session::note_choice(const access::Plan& plan, const std::string& choice) {
  if (choice.empty()) {
    return;
  }
  report_.reason += "; " + choice;
  if (is_root()) {
    access::state_method(trace_id_, plan.method(), report_.reason, plan.aggregators());
  }
}

void Session::trace_plan(const access::Plan& plan) {
  counters_->add(trace::Counter::kCommits);
  access::count_transfer(*counters_, plan.method(), plan.aggregators(), comm().rank());
  if (!is_root() || !trace::is_counting()) {
    return;  // the same is true on every rank
  }
  access::state_method(trace_id_, plan.method(), report_.reason, plan.aggregators());
  access::state_hints(trace_id_, environment_.hints);
  if (!environment_.hint_warnings.empty()) {
    trace::Recorder::instance().set_fact(trace_id_, "hint warnings",
                                         fmt::format("{}", fmt::join(environment_.hint_warnings, "; ")));
  }
}

}  // namespace stria::file
