#include "file/read/read_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "access/failure/message_signal.hpp"
#include "base/out_of_memory.hpp"
#include "container/object_path.hpp"
#include "file/chunks/node_chunks.hpp"
#include "file/define/columns.hpp"
#include "file/move/progress_meter.hpp"
#include "file/nodes/node_places.hpp"
#include "file/session/catalog_message.hpp"
#include "file/verify/whole_file.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

const Status& status_of(const Status& status) {
  return status;
}

template <typename Value>
const Status& status_of(const Result<Value>& result) {
  return result.status();
}

// Runs every rank's work, which stops where another rank has failed. All succeed, or none.
template <typename Work>
Status together(Meetings& meetings, Work&& work) {
  access::MessageSignal signal(meetings.comm(), meetings.reserve());
  const Status outcome = signal.end(work(&signal));
  return outcome.ok() ? outcome : meetings.comm().agree(outcome);
}

// Returns what each rank finds in its share of the file, known to all.
Result<Findings> check_whole(const ReadFrom& from, Meetings& meetings, const std::vector<std::string>& except) {
  Findings findings;
  const auto share = [&](access::AbortSignal* signal) {
    return or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(open_handle(from.by, from.file));
      PhaseTimer timer(from.by.times, Phase::kRead);
      const Status chunk_sums = load_chunk_sums(from, signal);
      STRIA_ASSIGN_OR_RETURN(findings,
                             check_share(summed(from, signal), meetings.comm(), from.file.reader.get(), except, chunk_sums));
      return Status();
    });
  };
  STRIA_RETURN_IF_ERROR(together(meetings, share));
  return share_findings(summed(from), meetings.comm(), findings);
}

// Has parts and parity on other nodes' own disks reached through the ranks there. Rank 0 has opened
// the file by a driver that reaches none.
Status reach_parts(const ReadBy& by, Environment& environment, const std::vector<std::string>& placed, ReadFile& file) {
  if (placed.empty() || !reach_nodes(environment, placed)) {
    return Status();
  }
  return environment.comm->agree(or_out_of_memory([&]() -> Status {
    close_handles(file);
    STRIA_RETURN_IF_ERROR(file.parity != nullptr ? find_parity(by, file) : Status());
    if (!by.is_root()) {
      return Status();
    }
    STRIA_RETURN_IF_ERROR(open_handle(by, file));
    return open_reader(file);
  }));
}

}  // namespace

ReadSession::ReadSession(Environment environment, const std::string& path, const OpenOptions& options,
                         std::shared_ptr<RollCall> roll_call)
    : Session(std::move(environment), path, std::move(roll_call)), options_(options) {
  meetings_.log().add(combine_hashes(hash_of_opening(environment_, path_), options.verify ? 1 : 0), 1, [this] {
    DefinitionText text = describe_opening(environment_, path_, "open");
    text.arguments.emplace_back("verify", options_.verify ? "true" : "false");
    return text;
  });
}

ReadSession::~ReadSession() {
  Session::leave("closed the file");
}

Result<std::shared_ptr<ReadSession>> ReadSession::open(Environment environment, const std::string& path,
                                                       const OpenOptions& options) {
  const std::shared_ptr<Comm> comm = environment.comm;
  const std::shared_ptr<RollCall> roll_call = begin_roll_call(*comm);
  auto made = or_out_of_memory([&]() -> Result<std::shared_ptr<ReadSession>> {
    return std::shared_ptr<ReadSession>(new ReadSession(std::move(environment), path, options, roll_call));
  });
  if (!made.ok()) {
    return give_up_opening(*comm, *roll_call, Call::kOpen, made.status());
  }
  ReadSession& session = **made;
  session.meetings_.begin();
  const Status status = session.begin();
  if (!status.ok()) {
    session.meetings_.end();
  }
  session.accounts_.note_time();
  return status.ok() ? made : status;
}

ReadFrom ReadSession::from() {
  return {.by = {.environment = environment_,
                 .given_path = path_,
                 .identity = identity_,
                 .times = accounts_.times(),
                 .verify = options_.verify},
          .file = file_,
          .catalog = catalog_,
          .sums = sums_,
          .chunks = chunks_};
}

// Rank 0 reads the catalog and tells the others.
Status ReadSession::begin() {
  std::vector<std::byte> message;
  std::vector<std::string> placed;
  OpenedFile opened;
  Status status = environment_.problem;
  if (status.ok() && meetings_.is_root()) {
    status = or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(opened, open_on_root(from().by, stored_path_));
      message = encode_opened(opened);
      return Status();
    });
  }
  STRIA_RETURN_IF_ERROR(meetings_.meet_and_share(Call::kOpen, status, message));
  status = or_out_of_memory([&]() -> Status {
    PhaseTimer timer(accounts_.times(), Phase::kMetadata);
    if (!meetings_.is_root()) {
      STRIA_ASSIGN_OR_RETURN(opened, decode_opened(from().by, message));
    }
    placed = std::move(opened.placed);
    return take(std::move(opened));
  });
  STRIA_RETURN_IF_ERROR(agree_on_file(Call::kOpen, status, file_.file.get(), stored_path_));
  return reach_parts(from().by, environment_, placed, file_);
}

Status ReadSession::take(OpenedFile opened) {
  file_ = std::move(opened.file);
  stored_path_ = file_.path;
  format_ = opened.content.format;
  catalog_ = std::move(opened.content.catalog);
  is_whole_ = opened.content.is_whole;
  accounts_.report().file_bytes = opened.content.file_bytes;
  std::vector<std::string>& warnings = environment_.hint_warnings;
  if (!opened.remark.empty()) {
    warnings.push_back(opened.remark);
  }
  warnings.insert(warnings.end(), opened.content.remarks.begin(), opened.content.remarks.end());
  if (!file_.healing_remark.empty()) {
    warnings.push_back(file_.healing_remark);
  }
  STRIA_ASSIGN_OR_RETURN(sums_, attach_sums(from().by, std::move(opened.content.sums), catalog_));
  return Status();
}

Status ReadSession::complete() {
  if (is_whole_) {
    return Status();
  }
  PhaseTimer timer(accounts_.times(), Phase::kMetadata);
  return or_out_of_memory([&]() -> Status {
    Content content{.format = format_, .catalog = catalog_, .file_bytes = report().file_bytes};
    STRIA_RETURN_IF_ERROR(read_whole(from().by, file_, content));
    STRIA_ASSIGN_OR_RETURN(FileSums sums, attach_sums(from().by, std::move(content.sums), content.catalog));
    catalog_ = std::move(content.catalog);
    sums_ = std::move(sums);
    accounts_.report().file_bytes = content.file_bytes;
    is_whole_ = true;
    return Status();
  });
}

Result<int> ReadSession::find(const std::string& dataset_path) {
  if (is_whole_ || catalog_.find(dataset_path)) {
    return Session::find(dataset_path);
  }
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  PhaseTimer timer(accounts_.times(), Phase::kMetadata);
  return or_out_of_memory([&]() -> Result<int> {
    STRIA_ASSIGN_OR_RETURN(const auto kind, file_.reader->kind_of(dataset_path));
    if (kind != container::Reader::ObjectKind::kDataset) {
      return Session::find(dataset_path);  // It says that there is none.
    }
    STRIA_ASSIGN_OR_RETURN(const std::string path, container::normal_path(dataset_path));
    STRIA_ASSIGN_OR_RETURN(DatasetEntry entry, read_entry(*file_.reader, path));
    return catalog_.add(std::move(entry));
  });
}

Result<std::vector<Column>> ReadSession::read_columns(const std::string& dataset_path, int64_t& row_bytes) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  STRIA_ASSIGN_OR_RETURN(const int number, find(dataset_path));
  row_bytes = catalog_[number].spec.element.bytes;
  return list_columns(catalog_[number].spec);
}

Result<int64_t> ReadSession::stored_bytes(int number) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  const DatasetEntry& entry = catalog_[number];
  if (!entry.is_chunked()) {
    return entry.data_offset >= 0 || entry.data_bytes() == 0 ? entry.data_bytes() : int64_t{-1};
  }
  return or_out_of_memory([&]() -> Result<int64_t> {
    STRIA_RETURN_IF_ERROR(open_handle(from().by, file_));
    return chunks_.stored_bytes(number);
  });
}

template <typename Call>
auto ReadSession::healing(Call&& call) -> decltype(call()) {
  auto outcome = call();
  return !outcome.ok() && heal(status_of(outcome)) ? call() : std::move(outcome);
}

// The message of the failure is the same on all ranks.
bool ReadSession::heal(const Status& failure) {
  if (!may_be_damage(failure) || file_.parity != nullptr) {
    return false;
  }
  const bool is_rank_alone = comm().size() == 1;
  capabilities_.native_types = false;  // HealedFile has it so.
  capabilities_.direct_align_bytes = 0;
  const Status found = or_out_of_memory([&]() -> Status {
    const ReadBy by = from().by;
    STRIA_RETURN_IF_ERROR(find_parity(by, file_));
    close_handles(file_);
    sums_.rows = RowSums();
    sums_.has_chunk_sums = false;
    chunks_.forget_content();
    STRIA_RETURN_IF_ERROR(open_handle(by, file_));
    STRIA_RETURN_IF_ERROR(meetings_.is_root() ? open_reader(file_) : Status());
    note_healing(by, failure, file_);
    environment_.hint_warnings.push_back(file_.healing_remark);
    return Status();
  });
  return (is_rank_alone ? found : comm().agree(found)).ok();
}

Status ReadSession::move_pending(Call call) {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  meetings_.poison(meetings_.set_reserve_aside());
  const EarlyReads early = read_early();
  const auto agreed = meet_after(early, call);
  Status status = agreed.status();
  if (agreed.ok() && agreed->shape.total_bytes == 0 && agreed->useful_bytes > 0) {
    // Everything is read, on every rank.
    meetings_.reserve().attempt([&] {
      const access::Plan plan = plan_of_early_reads();
      if (early.bytes == 0) {
        accounts_.note_method(plan);
        ProgressMeter(progress_, pending_).finish();
      }
      accounts_.count_move(plan, environment_);
    });
  } else if (agreed.ok()) {
    status = healing([&] { return move(agreed->shape); });
  }
  pending_.clear();
  meetings_.forget_failure();
  accounts_.note_time();
  return status;
}

EarlyReads ReadSession::read_early() {
  EarlyReads early;
  if (!meetings_.failure().ok() || !may_read_early(pending_, catalog_, capabilities_, environment_)) {
    return early;
  }
  const Status status = or_out_of_memory([&]() -> Status {
    const access::Plan plan = plan_of_early_reads();
    accounts_.note_method(plan);
    return move_gets({.pending = pending_, .plan = plan, .progress = progress_}, from(), meetings_, accounts_);
  });
  if (!status.ok()) {
    early.has_failed = true;
    meetings_.poison(status);
    return early;
  }
  for (const Transfer& transfer : pending_) {
    early.bytes += transfer.region.size();
  }
  pending_.clear();
  return early;
}

// What some rank has read early may be damaged: then that is read again, by the file's parity.
Result<Agreed> ReadSession::meet_after(const EarlyReads& early, Call call) {
  const Aside read{.useful_bytes = early.bytes};
  auto agreed = agree_on_request(meetings_, call, pending_, false, read);
  if (!agreed.ok() && heal(agreed.status())) {
    if (early.has_failed) {
      meetings_.forget_failure();
    }
    agreed = agree_on_request(meetings_, call, pending_, false, read);
  }
  if (agreed.ok()) {
    accounts_.count_agreed(agreed->asked_bytes());
  }
  return agreed;
}

Status ReadSession::move(const access::RequestShape& agreed) {
  access::MemoryReserve& reserve = meetings_.reserve();
  const access::RequestShape shape = comm().size() > 1 ? with_lanes(agreed, catalog_) : agreed;
  // This rank would not know what the others expect of it, if it had no plan.
  const auto plan = reserve.surely([&] { return access::make_plan(shape, capabilities_, environment_.hints, comm()); });
  reserve.attempt([&] {
    accounts_.note_method(plan);
    accounts_.count_move(plan, environment_);
  });
  const bool may_share = shape.total_bytes >= NodeChunks::kWorthBytes;
  const std::unique_ptr<NodeChunks> shared = may_share ? NodeChunks::create(comm(), catalog_, pending_) : nullptr;
  chunks_.share(shared.get());
  const auto work = [&](access::AbortSignal* signal) {
    return move_gets({.pending = pending_, .plan = plan, .progress = progress_, .signal = signal}, from(), meetings_,
                     accounts_);
  };
  const bool ends_together =
      plan.as<access::ThroughAggregators>() == nullptr && shape.total_bytes >= access::kWorthTellingBytes;
  const Status status = ends_together ? together(meetings_, work) : comm().agree(work(nullptr));
  chunks_.share(nullptr);
  return status;
}

Status ReadSession::abandon() {
  if (!meetings_.is_open()) {
    return Status();
  }
  const Status status = meetings_.meet(Call::kAbandon, Status());
  meetings_.end();
  return status;
}

Result<std::vector<std::byte>> ReadSession::read_small(const std::string& dataset_path, const Status& before, Call call) {
  return healing([&]() -> Result<std::vector<std::byte>> {
    const auto number = or_out_of_memory([&] { return find(dataset_path); });
    Status status = before.ok() ? number.status() : before;
    std::vector<std::byte> content;
    if (status.ok() && meetings_.is_root()) {
      status = or_out_of_memory([&] { return get_small(from(), *number, content); });
    }
    STRIA_RETURN_IF_ERROR(meetings_.meet_and_share(call, status, content));
    return content;
  });
}

Result<std::vector<Damage>> ReadSession::verify(std::vector<std::string>* remarks, const std::vector<std::string>& except) {
  STRIA_RETURN_IF_ERROR(complete());
  if (!sums_.index.present) {
    return Status(ErrorCode::kUnsupported, fmt::format("'{}' carries no checksums of Stria's", path_));
  }
  STRIA_RETURN_IF_ERROR(sums_.index.problem);
  STRIA_RETURN_IF_ERROR(meetings_.meet(Call::kVerify, meetings_.set_reserve_aside()));
  STRIA_ASSIGN_OR_RETURN(Findings findings, healing([&] { return check_whole(from(), meetings_, except); }));
  if (!file_.healing_remark.empty()) {
    findings.remarks.push_back(file_.healing_remark);
  }
  if (remarks != nullptr) {
    *remarks = std::move(findings.remarks);
  }
  return std::move(findings.damages);
}

}  // namespace stria::file
