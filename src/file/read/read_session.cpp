#include "file/read/read_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "access/failure/message_signal.hpp"
#include "access/move.hpp"
#include "base/check.hpp"
#include "file/background/background.hpp"
#include "file/checksums/changes.hpp"
#include "file/define/names.hpp"
#include "file/meet/message_fields.hpp"
#include "file/parts/parts_table.hpp"
#include "file/session/catalog_message.hpp"
#include "file/verify/get_checks.hpp"
#include "file/verify/whole_file.hpp"
#include "storage/parted/parted_file.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kLibraryReadBytes = 16 << 20;
// How often a file that can't be read is opened again, because it has grown meanwhile.
constexpr int kMostAttempts = 100;

}  // namespace

ReadSession::ReadSession(Environment environment, const std::string& path, const OpenOptions& options,
                         std::shared_ptr<RollCall> roll_call)
    : Session(std::move(environment), path, std::move(roll_call)), options_(options) {
  log_.add(combine_hashes(hash_of_opening(), options.verify ? 1 : 0), 1, [this] {
    DefinitionText text = describe_opening("open");
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
  session.finished_ = false;
  const Status status = session.begin();
  session.finished_ = !status.ok();
  session.note_time();
  return status.ok() ? made : status;
}

// Rank 0 reads the catalog and tells the others.
Status ReadSession::begin() {
  std::vector<std::byte> catalog;
  Status status = environment_.problem;
  if (status.ok() && is_root()) {
    status = or_out_of_memory([&]() -> Status {
      stored_path_ = environment_.driver->follow_links(stored_path_);
      Background::instance().wait_for_name(stored_path_);
      STRIA_ASSIGN_OR_RETURN(const Nearest nearest, find_file());
      take_nearest(nearest);
      auto parts = open_root();
      STRIA_ASSIGN_OR_RETURN(const bool is_healed, heal_root(parts.status()));
      parts = is_healed ? open_root() : std::move(parts);
      STRIA_RETURN_IF_ERROR(parts.status());
      FieldWriter fields;
      fields.text(nearest.path);
      fields.number(nearest.is_staged ? 1 : 0);
      fields.text(nearest.remark);
      fields.bytes(head_);
      fields.number(static_cast<int64_t>(file_remarks_.size()));
      for (const std::string& remark : file_remarks_) {
        fields.text(remark);
      }
      fields.text(healing_remark_);
      fields.bytes(encode_catalog(format_, catalog_, checksums_, *parts));
      catalog = fields.take();
      return Status();
    });
  }
  STRIA_RETURN_IF_ERROR(meet_and_share(Call::kOpen, status, catalog));
  status = or_out_of_memory([&] { return take_catalog(catalog); });
  return agree_on_open(Call::kOpen, status, file_.get(), stored_path_);
}

// Rank 0.
Result<Nearest> ReadSession::find_file() {
  const std::string& place = environment_.hints.staging_place;
  return place.empty() ? Nearest{.path = stored_path_} : find_nearest(*environment_.driver, place, stored_path_);
}

void ReadSession::take_nearest(const Nearest& nearest) {
  stored_path_ = nearest.path;
  is_staged_ = nearest.is_staged;
  if (!nearest.remark.empty()) {
    environment_.hint_warnings.push_back(nearest.remark);
  }
}

Status ReadSession::open_handle() {
  if (file_ == nullptr) {
    PhaseTimer timer(report_.phases, Phase::kOpen);
    STRIA_ASSIGN_OR_RETURN(auto opened, open_plain_or_healed());
    if (!is_root()) {
      STRIA_RETURN_IF_ERROR(identity_.check(*opened));
      file_ = std::make_unique<storage::SteadyFile>(std::move(opened), head_);
    } else {
      STRIA_ASSIGN_OR_RETURN(auto steady, storage::SteadyFile::open(std::move(opened)));
      head_ = steady->head();
      steady_ = steady.get();
      file_ = std::move(steady);
    }
    join_parts();
  }
  return Status();
}

Status ReadSession::take_parts(std::span<const std::byte> table) {
  if (!table.empty()) {
    STRIA_ASSIGN_OR_RETURN(PartsTable decoded, decode_parts(table, stored_path_));
    parts_ = std::make_shared<storage::PartMap>(std::move(decoded.map));
  }
  return Status();
}

// Returns the table of parts, for the others. A program that adds to the file may write its head
// while it is read.
Result<std::vector<std::byte>> ReadSession::open_root() {
  for (int attempt = 1;; ++attempt) {
    auto parts = open_as_it_is();
    if (parts.ok() || attempt == kMostAttempts || steady_ == nullptr || !steady_->has_another_head()) {
      return parts;
    }
    reader_ = nullptr;
    steady_ = nullptr;
    file_ = nullptr;
    parts_ = nullptr;
    catalog_ = {};
    checksums_ = {};
  }
}

Result<std::vector<std::byte>> ReadSession::open_as_it_is() {
  STRIA_RETURN_IF_ERROR(open_handle());
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  STRIA_ASSIGN_OR_RETURN(reader_, container::open_file(*file_));
  format_ = reader_->format();
  file_remarks_ = reader_->remarks();
  STRIA_ASSIGN_OR_RETURN(report_.file_bytes, file_->size());
  STRIA_ASSIGN_OR_RETURN(is_lazy_, may_be_lazy());
  return is_lazy_ ? Result<std::vector<std::byte>>(std::vector<std::byte>()) : read_whole_catalog();
}

Result<std::vector<std::byte>> ReadSession::read_whole_catalog() {
  STRIA_ASSIGN_OR_RETURN(Catalog all, read_catalog(*reader_));
  catalog_ = catalog_.completed(std::move(all));
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> parts, read_parts(*reader_, stored_path_, catalog_));
  STRIA_RETURN_IF_ERROR(take_parts(parts));
  join_parts();
  auto index = read_checksum_index(*reader_, report_.file_bytes);
  if (index.ok()) {
    checksums_ = std::move(*index);
    go_by_summed_paths(checksums_, catalog_);
    STRIA_RETURN_IF_ERROR(note_changes(*file_, *reader_, catalog_, checksums_));
  } else {
    STRIA_RETURN_IF_ERROR(without_index(index.status()));
  }
  report_.file_bytes += parts_ != nullptr ? parts_->bytes_of_parts() : 0;
  return parts;
}

// Data can be read without sums if the caller wants that; verify() then says what is wrong
// with the sums.
Status ReadSession::without_index(const Status& problem) {
  if (options_.verify) {
    return problem.with_context(fmt::format("'{}' (to read it all the same, open it with verify off)", path_));
  }
  checksums_ = {};
  checksums_.present = true;
  checksums_.problem = problem.with_context(fmt::format("'{}'", path_));
  return Status();
}

Status ReadSession::take_catalog(std::span<const std::byte> message) {
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  if (!is_root()) {
    FieldReader fields(message);
    const std::string path = fields.text();
    const bool is_staged = fields.number() != 0;
    take_nearest({.path = path, .is_staged = is_staged, .remark = fields.text()});
    const auto head = fields.bytes();
    head_.assign(head.begin(), head.end());
    for (int64_t left = fields.number(); fields.well() && left > 0; --left) {
      file_remarks_.push_back(fields.text());
    }
    healing_remark_ = fields.text();
    STRIA_RETURN_IF_ERROR(healing_remark_.empty() ? Status() : find_parity());
    STRIA_ASSIGN_OR_RETURN(CatalogMessage catalog, decode_catalog(fields.bytes()));
    catalog_ = std::move(catalog.datasets);
    checksums_ = std::move(catalog.checksums);
    format_ = catalog.format;
    STRIA_RETURN_IF_ERROR(take_parts(catalog.parts));
  }
  environment_.hint_warnings.insert(environment_.hint_warnings.end(), file_remarks_.begin(), file_remarks_.end());
  if (!healing_remark_.empty()) {
    environment_.hint_warnings.push_back(healing_remark_);
  }
  return take_sums();
}

Status ReadSession::take_sums() {
  if (const Status attached = attach_row_sums(checksums_, catalog_); !attached.ok()) {
    STRIA_RETURN_IF_ERROR(without_index(attached));
  }
  sum_records_ = SumRecords(catalog_, checksums_);
  return Status();
}

SummedFile ReadSession::summed() {
  STRIA_ASSERT(file_ != nullptr, path_);
  return {.path = path_,
          .catalog = catalog_,
          .sums = checksums_,
          .records = sum_records_,
          .file = *file_,
          .chunks = chunks_,
          .rows = row_sums_,
          .signal = signal_};
}

Status ReadSession::move_pending(Call call) {
  STRIA_RETURN_IF_ERROR(check_open());
  poison(set_reserve_aside());
  const Early early = read_early();
  const auto agreed = meet_after(early, call);
  Status status = agreed.status();
  if (agreed.ok()) {
    const bool is_all_read = agreed->shape.total_bytes == 0 && agreed->useful_bytes > 0;
    status = is_all_read ? end_early(early) : healing([&] { return move(agreed->shape); });
  }
  pending_.clear();
  poisoned_ = Status();
  note_time();
  return status;
}

Status ReadSession::move(const access::RequestShape& agreed) {
  const access::RequestShape shape = comm().size() > 1 ? with_lanes(agreed) : agreed;
  // Without a plan this rank would not know what the others expect of it.
  const auto plan = reserve_.surely([&] { return access::make_plan(shape, capabilities_, environment_.hints, comm()); });
  reserve_.attempt([&] { note_plan(plan); });
  const bool may_share = shape.total_bytes >= NodeChunks::kWorthBytes;
  const std::unique_ptr<NodeChunks> shared = may_share ? NodeChunks::create(comm(), catalog_, pending_) : nullptr;
  chunks_.share(shared.get());
  const Status status = move_as(plan, shape);
  chunks_.share(nullptr);
  return status;
}

Status ReadSession::move_as(const access::Plan& plan, const access::RequestShape& shape) {
  if (plan.as<access::ThroughAggregators>() != nullptr || shape.total_bytes < access::kWorthTellingBytes) {
    return comm().agree(move_all(plan));
  }
  return together([&] { return move_all(plan); });
}

// Runs every rank's work, which stops where another rank has failed.
Status ReadSession::together(const std::function<Status()>& work) {
  access::MessageSignal signal(comm(), reserve_);
  signal_ = &signal;
  const Status outcome = signal.end(work());
  signal_ = nullptr;
  return outcome.ok() ? outcome : comm().agree(outcome);  // all have succeeded, or none has
}

// The outcome is this rank's own.
Status ReadSession::move_all(const access::Plan& plan) {
  std::vector<Transfer> direct;
  std::vector<Transfer> in_chunks;
  std::vector<Transfer> through_library;
  const bool sums = checks();
  ProgressMeter progress(progress_, pending_);
  auto set = or_out_of_memory([&]() -> Result<std::unique_ptr<TransferSet>> {
    STRIA_RETURN_IF_ERROR(reserve_.status());
    for (const Transfer& transfer : pending_) {  // which may be moved once more: healing.cpp
      const DatasetEntry& entry = catalog_[transfer.dataset];
      auto& way = entry.data_offset >= 0 ? direct : entry.is_chunked() ? in_chunks : through_library;
      way.push_back(transfer);
    }
    STRIA_RETURN_IF_ERROR(open_handle());
    return TransferSet::create(direct, catalog_.datasets(),
                               {.checksums = sums, .progress = &progress, .own_lanes = plan.as<access::Alone>() != nullptr});
  });
  if (plan.as<access::ThroughAggregators>() != nullptr && !comm().agree(set.status()).ok() && set.ok()) {
    // The exchange needs all ranks.
    return Status(ErrorCode::kAborted, "another rank could not begin to read");
  }
  STRIA_RETURN_IF_ERROR(set.status());
  access::Context context{comm(), file_.get(), environment_.hints, report_.phases, {}, signal_};
  return or_out_of_memory([&]() -> Status {
    const auto moved = access::move(context, (*set)->lanes(), access::Endpoint::of_read(**set), access::AsPlanned{plan});
    STRIA_RETURN_IF_ERROR(access::require_all({moved.status, moved.bytes}, context, (*set)->lanes()));
    note_choice(plan, moved.method == access::Method::kTwoPhase ? moved.reason : std::string());
    if (moved.method == access::Method::kHybrid) {
      report_.method = access::method_name(moved.method);
      report_.reason += "; " + moved.reason;
    }
    STRIA_RETURN_IF_ERROR(read_chunks(in_chunks, progress));
    for (const Transfer& transfer : through_library) {
      STRIA_RETURN_IF_ERROR(read_through_library(transfer, progress));
    }
    progress.finish();
    STRIA_RETURN_IF_ERROR(sums ? check_gets(summed(), direct, **set) : Status());
    for (const std::vector<Transfer>* way : {&direct, &in_chunks, &through_library}) {
      STRIA_RETURN_IF_ERROR(deliver_records(*way));
    }
    return Status();
  });
}

Status ReadSession::deliver_records(std::span<const Transfer> transfers) {
  PhaseTimer timer(report_.phases, Phase::kUnpack);
  for (const Transfer& transfer : transfers) {
    STRIA_RETURN_IF_ERROR(transfer.records == nullptr ? Status() : transfer.records->deliver());
  }
  return Status();
}

// Compact, or in chunks with filters or an index that we don't know: libhdf5 reads rows into a
// buffer, the packer converts from there.
Status ReadSession::read_through_library(const Transfer& transfer, ProgressMeter& progress) {
  if (transfer.has_gaps) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("dataset '{}' takes libhdf5 to be read: read it by boxes, without strides or maps",
                              catalog_[transfer.dataset].spec.path));
  }
  if (reader_ == nullptr) {
    STRIA_ASSIGN_OR_RETURN(reader_, container::open_file(*file_));
  }
  DatasetEntry entry = catalog_[transfer.dataset];
  entry.spec.element.big_endian = false;  // the library has turned the numbers
  entry.data_offset = 0;
  std::vector<Transfer> one = {transfer};
  one[0].dataset = 0;
  STRIA_ASSIGN_OR_RETURN(auto set, TransferSet::create(one, std::span(&entry, 1), {.progress = &progress}));
  int64_t rows = transfer.count.empty() ? 1 : transfer.count[0];
  int64_t row_bytes = transfer.region.size() / std::max<int64_t>(rows, 1);
  int64_t step = std::max<int64_t>(kLibraryReadBytes / std::max<int64_t>(row_bytes, 1), 1);
  std::vector<std::byte> buffer;
  for (int64_t row = 0; row < rows; row += step) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(signal_));
    int64_t step_rows = std::min(step, rows - row);
    std::vector<int64_t> start = transfer.start;
    std::vector<int64_t> count = transfer.count;
    if (!start.empty()) {
      start[0] += row;
      count[0] = step_rows;
    }
    buffer.resize(static_cast<size_t>(step_rows * row_bytes));
    {
      PhaseTimer timer(report_.phases, Phase::kRead);
      STRIA_RETURN_IF_ERROR(reader_->read_hyperslab(entry.spec.path, start, count, buffer));
    }
    PhaseTimer timer(report_.phases, Phase::kUnpack);
    access::StreamPart part{
        .stream_id = 0, .begin = row * row_bytes, .end = (row + step_rows) * row_bytes, .packed = buffer.data()};
    set->unpack(std::span(&part, 1));
  }
  return Status();
}

Status ReadSession::abandon() {
  if (finished_) {
    return Status();
  }
  const Status status = meet(Call::kAbandon, Status());
  finished_ = true;
  return status;
}

Result<std::vector<Damage>> ReadSession::verify(std::vector<std::string>* remarks, const std::vector<std::string>& except) {
  STRIA_RETURN_IF_ERROR(complete());
  if (!checksums_.present) {
    return Status(ErrorCode::kUnsupported, fmt::format("'{}' carries no checksums of Stria's", path_));
  }
  STRIA_RETURN_IF_ERROR(checksums_.problem);
  STRIA_RETURN_IF_ERROR(meet(Call::kVerify, set_reserve_aside()));
  STRIA_ASSIGN_OR_RETURN(Findings findings, healing([&] { return check_whole(except); }));
  if (!healing_remark_.empty()) {
    findings.remarks.push_back(healing_remark_);
  }
  if (remarks != nullptr) {
    *remarks = std::move(findings.remarks);
  }
  return std::move(findings.damages);
}

Result<Findings> ReadSession::check_whole(const std::vector<std::string>& except) {
  Findings findings;
  // By reference, because a std::function would take memory for what the lambda captures, and one
  // rank might have none.
  auto share = [&] {
    return or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(open_handle());
      PhaseTimer timer(report_.phases, Phase::kRead);
      const Status chunk_sums = load_chunk_sums();
      STRIA_ASSIGN_OR_RETURN(findings, check_share(summed(), comm(), reader_.get(), except, chunk_sums));
      return Status();
    });
  };
  STRIA_RETURN_IF_ERROR(together(std::ref(share)));
  return share_findings(summed(), comm(), findings);
}

}  // namespace stria::file
