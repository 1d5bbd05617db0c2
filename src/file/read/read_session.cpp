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
#include "file/read/content.hpp"
#include "file/read/early_reads.hpp"
#include "file/session/catalog_message.hpp"
#include "file/verify/findings.hpp"
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
Result<Findings> check_whole(FileToRead& reading, const std::vector<std::string>& except) {
  OpenFile& file = reading.file;
  Findings findings;
  const auto share = [&](access::AbortSignal* signal) {
    return or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(open_handle(file, reading.source));
      PhaseTimer timer(file.accounts.times(), Phase::kRead);
      const Status chunk_sums = load_chunk_sums(reading, signal);
      STRIA_ASSIGN_OR_RETURN(
          findings, check_share(summed(reading, signal), file.comm(), reading.source.reader.get(), except, chunk_sums));
      return Status();
    });
  };
  STRIA_RETURN_IF_ERROR(together(file.meetings, share));
  return share_findings(summed(reading), file.comm(), findings);
}

// Has parts and parity on other nodes' own disks reached through the ranks there. Rank 0 has opened
// the file by a driver that reaches none.
Status reach_parts(OpenFile& file, const std::vector<std::string>& placed, ReadFile& source) {
  if (placed.empty() || !reach_nodes(file.environment, placed)) {
    return Status();
  }
  return file.comm().agree(or_out_of_memory([&]() -> Status {
    close_handles(source);
    STRIA_RETURN_IF_ERROR(source.parity != nullptr ? find_parity(file, source) : Status());
    if (!file.meetings.is_root()) {
      return Status();
    }
    STRIA_RETURN_IF_ERROR(open_handle(file, source));
    return open_reader(source);
  }));
}

// Takes over what was opened on this rank, or told by rank 0. Local.
Status take(FileToRead& reading, FileWithContent opened) {
  OpenFile& file = reading.file;
  reading.source = std::move(opened.file);
  file.stored_path = reading.source.path;
  file.environment.format = &container::format_of(opened.content.format, file.path);
  file.catalog = std::move(opened.content.catalog);
  reading.is_whole = opened.content.is_whole;
  file.accounts.report().file_bytes = opened.content.file_bytes;
  std::vector<std::string>& warnings = file.environment.hint_warnings;
  if (!opened.remark.empty()) {
    warnings.push_back(opened.remark);
  }
  warnings.insert(warnings.end(), opened.content.remarks.begin(), opened.content.remarks.end());
  if (!reading.source.healing_remark.empty()) {
    warnings.push_back(reading.source.healing_remark);
  }
  STRIA_ASSIGN_OR_RETURN(reading.sums, attach_sums(file, reading.source.verify, std::move(opened.content.sums), file.catalog));
  return Status();
}

// Rank 0 reads the catalog and tells the others. Collective: yes; the same outcome everywhere.
Status begin(FileToRead& reading, bool verify) {
  OpenFile& file = reading.file;
  std::vector<std::byte> message;
  std::vector<std::string> placed;
  FileWithContent opened;
  Status status = file.environment.problem;
  if (status.ok() && file.meetings.is_root()) {
    status = or_out_of_memory([&]() -> Status {
      STRIA_ASSIGN_OR_RETURN(opened, open_on_root(file, verify));
      message = encode_opened(opened);
      return Status();
    });
  }
  STRIA_RETURN_IF_ERROR(file.meetings.meet_and_share(Call::kOpen, status, message));
  status = or_out_of_memory([&]() -> Status {
    PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
    if (!file.meetings.is_root()) {
      STRIA_ASSIGN_OR_RETURN(opened, decode_opened(file, verify, message));
    }
    placed = std::move(opened.placed);
    return take(reading, std::move(opened));
  });
  STRIA_RETURN_IF_ERROR(agree_on_file(file, status, reading.source.file.get(), file.stored_path));
  return reach_parts(file, placed, reading.source);
}

// Decides, after a call that has failed on all ranks, whether to make it again by the file's
// parity. The message of the failure is the same on all ranks. Collective: yes; the same outcome
// everywhere.
bool heal(FileToRead& reading, const Status& failure) {
  OpenFile& file = reading.file;
  ReadFile& source = reading.source;
  if (!may_be_damage(failure) || source.parity != nullptr) {
    return false;
  }
  file.capabilities.native_types = false;  // HealedFile has it so.
  file.capabilities.direct_align_bytes = 0;
  const Status found = or_out_of_memory([&]() -> Status {
    STRIA_RETURN_IF_ERROR(find_parity(file, source));
    close_handles(source);
    reading.sums.rows = RowSums();
    reading.sums.has_chunk_sums = false;
    reading.chunks.forget_content();
    STRIA_RETURN_IF_ERROR(open_handle(file, source));
    STRIA_RETURN_IF_ERROR(file.meetings.is_root() ? open_reader(source) : Status());
    note_healing(file, failure, source);
    file.environment.hint_warnings.push_back(source.healing_remark);
    return Status();
  });
  return (file.comm().size() == 1 ? found : file.comm().agree(found)).ok();
}

// Makes a collective call that all ranks end alike, and where that fails by damage once more.
template <typename Work>
auto healing(FileToRead& reading, Work&& work) -> decltype(work()) {
  auto outcome = work();
  return !outcome.ok() && heal(reading, status_of(outcome)) ? work() : std::move(outcome);
}

EarlyReads read_early(FileToRead& reading) {
  OpenFile& file = reading.file;
  EarlyReads early;
  if (!file.meetings.failure().ok() || !may_read_early(file)) {
    return early;
  }
  const Status status = or_out_of_memory([&]() -> Status {
    const access::Plan plan = plan_of_early_reads();
    file.accounts.note_method(plan);
    return move_gets(reading, plan);
  });
  if (!status.ok()) {
    early.has_failed = true;
    file.meetings.poison(status);
    return early;
  }
  for (const Transfer& transfer : file.pending) {
    early.bytes += transfer.region.size();
  }
  file.pending.clear();
  return early;
}

// What some rank has read early may be damaged: then that is read again, by the file's parity.
Result<Agreed> meet_after(const EarlyReads& early, FileToRead& reading, Call call) {
  OpenFile& file = reading.file;
  const Aside read{.useful_bytes = early.bytes};
  auto agreed = agree_on_request(file.meetings, call, file.pending, false, read);
  if (!agreed.ok() && heal(reading, agreed.status())) {
    if (early.has_failed) {
      file.meetings.forget_failure();
    }
    agreed = agree_on_request(file.meetings, call, file.pending, false, read);
  }
  if (agreed.ok()) {
    file.accounts.count_agreed(agreed->asked_bytes());
  }
  return agreed;
}

// Moves what is pending by the plan of all ranks. Collective: yes; the same outcome everywhere.
Status move(FileToRead& reading, const access::RequestShape& agreed) {
  OpenFile& file = reading.file;
  const access::RequestShape shape = file.comm().size() > 1 ? with_lanes(agreed, file.catalog) : agreed;
  const access::Plan plan = plan_move(file, shape);
  const bool may_share = shape.total_bytes >= NodeChunks::kWorthBytes;
  const std::unique_ptr<NodeChunks> shared = may_share ? NodeChunks::create(file.comm(), file.catalog, file.pending) : nullptr;
  reading.chunks.share(shared.get());
  const auto work = [&](access::AbortSignal* signal) { return move_gets(reading, plan, signal); };
  const bool ends_together =
      plan.as<access::ThroughAggregators>() == nullptr && shape.total_bytes >= access::kWorthTellingBytes;
  const Status status = ends_together ? together(file.meetings, work) : file.comm().agree(work(nullptr));
  reading.chunks.share(nullptr);
  return status;
}

// Conducts a flush: what is read early, the meeting, the move. Collective: yes; the same outcome
// everywhere.
Status move_pending(FileToRead& reading, Call call) {
  OpenFile& file = reading.file;
  STRIA_RETURN_IF_ERROR(file.meetings.check_open());
  file.meetings.poison(file.meetings.set_reserve_aside());
  const EarlyReads early = read_early(reading);
  const auto agreed = meet_after(early, reading, call);
  Status status = agreed.status();
  if (agreed.ok() && agreed->shape.total_bytes == 0 && agreed->useful_bytes > 0) {
    // Everything is read, on every rank.
    file.meetings.reserve().attempt([&] {
      const access::Plan plan = plan_of_early_reads();
      if (early.bytes == 0) {
        file.accounts.note_method(plan);
        ProgressMeter(file.progress, file.pending).finish();
      }
      file.accounts.count_move(plan, file.environment);
    });
  } else if (agreed.ok()) {
    status = healing(reading, [&] { return move(reading, agreed->shape); });
  }
  file.pending.clear();
  file.meetings.forget_failure();
  file.accounts.note_time();
  return status;
}

}  // namespace

ReadSession::ReadSession(Environment environment, const std::string& path, bool verify, std::shared_ptr<RollCall> roll_call)
    : reading_{.file = OpenFile(Call::kOpen, std::move(environment), path, std::move(roll_call))} {
  log_opening(reading_.file, verify ? 1 : 0, [verify]() -> OpeningOptions { return {{"verify", verify ? "true" : "false"}}; });
}

ReadSession::~ReadSession() {
  ReadSession::leave("closed the file");
}

Result<std::shared_ptr<ReadSession>> ReadSession::open(Environment environment, const std::string& path,
                                                       const OpenOptions& options) {
  const std::shared_ptr<Comm> comm = environment.comm;
  const std::shared_ptr<RollCall> roll_call = begin_roll_call(*comm);
  auto made = or_out_of_memory([&]() -> Result<std::shared_ptr<ReadSession>> {
    return std::shared_ptr<ReadSession>(new ReadSession(std::move(environment), path, options.verify, roll_call));
  });
  if (!made.ok()) {
    return give_up_opening(*comm, *roll_call, Call::kOpen, made.status());
  }
  FileToRead& reading = (*made)->reading_;
  reading.file.meetings.begin();
  const Status status = begin(reading, options.verify);
  if (!status.ok()) {
    reading.file.meetings.end();
  }
  reading.file.accounts.note_time();
  return status.ok() ? made : status;
}

Status ReadSession::flush() {
  return move_pending(reading_, Call::kFlush);
}

Status ReadSession::commit() {
  return move_pending(reading_, Call::kCommit);
}

Status ReadSession::abandon() {
  Meetings& meetings = reading_.file.meetings;
  if (!meetings.is_open()) {
    return Status();
  }
  const Status status = meetings.meet(Call::kAbandon, Status());
  meetings.end();
  return status;
}

Status ReadSession::complete() {
  if (reading_.is_whole) {
    return Status();
  }
  OpenFile& file = reading_.file;
  PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
  return or_out_of_memory([&]() -> Status {
    Content content{.format = file.format(), .catalog = file.catalog, .file_bytes = file.accounts.report().file_bytes};
    STRIA_RETURN_IF_ERROR(read_whole(file, reading_.source, content));
    STRIA_ASSIGN_OR_RETURN(FileSums sums, attach_sums(file, reading_.source.verify, std::move(content.sums), content.catalog));
    file.catalog = std::move(content.catalog);
    reading_.sums = std::move(sums);
    file.accounts.report().file_bytes = content.file_bytes;
    reading_.is_whole = true;
    return Status();
  });
}

Result<int> ReadSession::find(const std::string& dataset_path) {
  OpenFile& file = reading_.file;
  if (reading_.is_whole || file.catalog.find(dataset_path)) {
    return find_dataset(file, dataset_path);
  }
  STRIA_RETURN_IF_ERROR(file.meetings.check_open());
  PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
  return or_out_of_memory([&]() -> Result<int> {
    STRIA_ASSIGN_OR_RETURN(const auto kind, source().reader->kind_of(dataset_path));
    if (kind != container::Reader::ObjectKind::kDataset) {
      return find_dataset(file, dataset_path);  // It says that there is none.
    }
    STRIA_ASSIGN_OR_RETURN(const std::string path, container::normal_path(dataset_path));
    STRIA_ASSIGN_OR_RETURN(DatasetEntry entry, read_entry(*source().reader, path));
    return file.catalog.add(std::move(entry));
  });
}

Result<std::vector<Column>> ReadSession::read_columns(const std::string& dataset_path, int64_t& row_bytes) {
  STRIA_RETURN_IF_ERROR(reading_.file.meetings.check_open());
  STRIA_ASSIGN_OR_RETURN(const int number, find(dataset_path));
  const container::DatasetSpec& spec = reading_.file.catalog[number].spec;
  row_bytes = spec.element.bytes;
  return list_columns(spec);
}

Result<int64_t> ReadSession::stored_bytes(int number) {
  STRIA_RETURN_IF_ERROR(reading_.file.meetings.check_open());
  const DatasetEntry& entry = reading_.file.catalog[number];
  if (!entry.is_chunked()) {
    return entry.data_offset >= 0 || entry.data_bytes() == 0 ? entry.data_bytes() : int64_t{-1};
  }
  return or_out_of_memory([&]() -> Result<int64_t> {
    STRIA_RETURN_IF_ERROR(open_handle(reading_.file, reading_.source));
    return reading_.chunks.stored_bytes(summed(reading_).chunk_source(), number);
  });
}

Result<std::vector<std::byte>> ReadSession::read_small(const std::string& dataset_path, const Status& before, Call call) {
  return healing(reading_, [&]() -> Result<std::vector<std::byte>> {
    const auto number = or_out_of_memory([&] { return find(dataset_path); });
    Status status = before.ok() ? number.status() : before;
    std::vector<std::byte> content;
    if (status.ok() && reading_.file.meetings.is_root()) {
      status = or_out_of_memory([&] { return get_small(reading_, *number, content); });
    }
    STRIA_RETURN_IF_ERROR(reading_.file.meetings.meet_and_share(call, status, content));
    return content;
  });
}

Result<std::vector<Damage>> ReadSession::verify(std::vector<std::string>* remarks, const std::vector<std::string>& except) {
  STRIA_RETURN_IF_ERROR(complete());
  if (!sums().present) {
    return Status(ErrorCode::kUnsupported, fmt::format("'{}' carries no checksums of Stria's", reading_.file.path));
  }
  STRIA_RETURN_IF_ERROR(sums().problem);
  Meetings& meetings = reading_.file.meetings;
  STRIA_RETURN_IF_ERROR(meetings.meet(Call::kVerify, meetings.set_reserve_aside()));
  STRIA_ASSIGN_OR_RETURN(Findings findings, healing(reading_, [&] { return check_whole(reading_, except); }));
  if (!source().healing_remark.empty()) {
    findings.remarks.push_back(source().healing_remark);
  }
  if (remarks != nullptr) {
    *remarks = std::move(findings.remarks);
  }
  return std::move(findings.damages);
}

}  // namespace stria::file
