#include "file/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "access/transfer_facts.hpp"
#include "base/hash.hpp"
#include "file/equality_sums.hpp"
#include "trace/recorder.hpp"
#include "trace/span.hpp"

namespace stria::file {

namespace {

constexpr size_t kReserveBytes = 64 << 10;
constexpr size_t kReserveBytesARank = 64;

std::string without_leading_slash(const std::string& path) {
  size_t first = path.find_first_not_of('/');
  return first == std::string::npos ? "" : path.substr(first);
}

uint64_t hash_of(const access::ResolvedHints& hints) {
  std::string text;
  for (const auto& [name, value] : access::effective_hints(hints)) {
    if (name != "stria_driver") {  // a node's kernel may lack one
      text += name + "=" + value + "\n";
    }
  }
  return hash_bytes(std::as_bytes(std::span(text)));
}

}  // namespace

Session::Session(Environment environment, std::string path)
    : environment_(std::move(environment)),
      hints_hash_(hash_of(environment_.hints)),
      path_(std::move(path)),
      trace_id_(trace::Recorder::instance().file(path_)),
      counters_(&trace::Recorder::instance().counters(trace_id_)) {}

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

Status Session::record(int dataset, const Hyperslab& slab, const Memory& memory) {
  Status status = or_out_of_memory([&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(Transfer transfer, make_transfer(dataset, datasets_[static_cast<size_t>(dataset)], slab, memory));
    if (transfer.region.size() > 0) {
      pending_.push_back(std::move(transfer));
    }
    return Status();
  });
  poison(status);
  return status;
}

int Session::add(DatasetEntry entry) {
  auto number = static_cast<int>(datasets_.size());
  index_of_path_.emplace(entry.spec.path, number);
  datasets_.push_back(std::move(entry));
  return number;
}

Result<int> Session::find(const std::string& dataset_path) const {
  std::string wanted = without_leading_slash(dataset_path);
  auto found = index_of_path_.find(wanted);
  if (found == index_of_path_.end()) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no dataset '{}'", path_, wanted));
  }
  return found->second;
}

Result<access::RequestShape> Session::agree_on_request(bool write, bool durable, uint64_t extra_hash) {
  const trace::Span span(trace::kind(trace::BuiltIn::kPlan));
  int64_t bytes = 0;
  int64_t pieces = 0;
  for (const Transfer& transfer : pending_) {
    bytes += transfer.region.size();
    pieces += transfer.region.piece_count();
  }
  // One sum tells all.
  std::array<int64_t, 3 + kEqualityTerms> sums = {bytes, pieces, poisoned_.ok() ? 0 : 1};
  const auto own_terms = equality_terms(extra_hash);
  std::copy(own_terms.begin(), own_terms.end(), sums.begin() + 3);
  comm().all_reduce(std::span<int64_t>(sums), ReduceOp::kSum);
  if (sums[2] != 0) {
    return comm().agree(poisoned_);
  }
  if (!all_equal(std::span(sums).last<kEqualityTerms>(), comm().size())) {
    return Status(
        ErrorCode::kInvalidArgument,
        fmt::format("'{}': the ranks don't define the same datasets, attributes and tables, or differ in options or hints",
                    path_));
  }
  report_.useful_bytes += sums[0];
  return access::RequestShape{sums[0], sums[1], write, durable};
}

Status Session::agree_on_open(const Status& mine, const storage::File* file) {
  static_assert(std::is_trivially_copyable_v<storage::Capabilities>);
  if (file != nullptr) {
    capabilities_ = file->capabilities();
  }
  return comm().agree(mine, std::as_writable_bytes(std::span(&capabilities_, 1)));
}

void Session::note_time() {
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count();
  counters_->add_phases(report_.phases, counted_phases_);
  counted_phases_ = report_.phases;
}

void Session::count_transfer(bool put, int64_t bytes) {
  counters_->call(put ? trace::Direction::kWrite : trace::Direction::kRead, bytes);
}

void Session::note_plan(const access::Plan& plan) {
  report_.method = access::method_name(plan.method);
  report_.reason = plan.reason;
  counters_->add(trace::Counter::kCommits);
  const std::vector<int>& aggregators = plan.two_phase.aggregators;
  access::count_transfer(trace_id_, plan.method, aggregators, comm().rank());
  if (!is_root() || !trace::is_counting()) {
    return;  // the same is true on every rank
  }
  access::state_method(trace_id_, plan.method, report_.reason, aggregators);
  access::state_hints(trace_id_, environment_.hints);
  if (!environment_.hint_warnings.empty()) {
    trace::Recorder::instance().set_fact(trace_id_, "hint warnings",
                                         fmt::format("{}", fmt::join(environment_.hint_warnings, "; ")));
  }
}

}  // namespace stria::file
