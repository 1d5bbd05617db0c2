#include "file/write/write_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "access/failure/message_signal.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/meet/outcome_message.hpp"
#include "file/write/checksum_tables.hpp"
#include "trace/phase_timer.hpp"

namespace stria::file {

namespace {

constexpr int64_t kWorthTurnsBytes = 1 << 20;

// Keeps the failure of the lowest rank. A rank that gave up because of another counts only if no
// other failure is known.
void keep_first(Status& first, const Status& status, int rank, int ranks) {
  if (!status.ok() && (first.ok() || (first.code() == ErrorCode::kAborted && status.code() != ErrorCode::kAborted))) {
    first = ranks == 1 ? status : status.with_context(fmt::format("rank {}", rank));
  }
}

// The parts of all ranks, or the first failure.
Result<std::vector<std::vector<std::byte>>> open_parts(std::span<const std::vector<std::byte>> messages) {
  std::vector<std::vector<std::byte>> parts;
  Status failure;
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    auto part = decode_outcome(messages[rank]);
    keep_first(failure, part.status(), static_cast<int>(rank), static_cast<int>(messages.size()));
    if (part.ok()) {
      parts.push_back(std::move(*part));
    }
  }
  STRIA_RETURN_IF_ERROR(failure);
  return parts;
}

}  // namespace

WriteSession::WriteSession(Environment environment, const std::string& path, const CreateOptions& options,
                           std::shared_ptr<RollCall> roll_call)
    : Session(std::move(environment), path, std::move(roll_call)),
      options_(options),
      layout_(environment_.format->make_layout()),
      definitions_({.catalog = catalog_, .layout = *layout_, .log = log_}, environment_.hints.alignment_bytes, is_root()),
      file_(environment_, stored_path_, identity_, report_.phases) {
  const uint64_t hash = combine_hashes(hash_of_opening(), (options.sync ? 2 : 0) + (options.checksums ? 1 : 0));
  log_.add(hash, 1, [this] {
    DefinitionText text = describe_opening("create");
    text.arguments.emplace_back("sync", options_.sync ? "true" : "false");
    text.arguments.emplace_back("checksums", options_.checksums ? "true" : "false");
    return text;
  });
}

WriteSession::~WriteSession() {
  WriteSession::leave("dropped the file");
}

Result<std::shared_ptr<WriteSession>> WriteSession::create(Environment environment, const std::string& path,
                                                           const CreateOptions& options) {
  const std::shared_ptr<Comm> comm = environment.comm;
  const std::shared_ptr<RollCall> roll_call = begin_roll_call(*comm);
  auto made = or_out_of_memory([&]() -> Result<std::shared_ptr<WriteSession>> {
    return std::shared_ptr<WriteSession>(new WriteSession(std::move(environment), path, options, roll_call));
  });
  if (!made.ok()) {
    return give_up_opening(*comm, *roll_call, Call::kCreate, made.status())
        .with_context(fmt::format("'{}' was not written", path));
  }
  WriteSession& session = **made;
  session.finished_ = false;
  Status status = session.environment_.problem;
  if (session.is_root() && status.ok()) {
    status = or_out_of_memory([&] { return session.file_.create(session.path_); });
  }
  status = session.agree_on_open(Call::kCreate, status, session.file_.created());
  if (!status.ok()) {
    return session.fail(status);
  }
  return made;
}

Result<int> WriteSession::create_dataset(const container::DatasetSpec& spec, const DatasetOptions& options) {
  STRIA_RETURN_IF_ERROR(check_open());
  auto number = definitions_.create_dataset(spec, options);
  return number.ok() ? number : refuse(number.status());
}

Status WriteSession::create_table(container::DatasetSpec spec, std::span<const std::byte> content) {
  STRIA_RETURN_IF_ERROR(check_open());
  return refuse(definitions_.create_table(std::move(spec), content));
}

Status WriteSession::set_attribute(container::AttributeSpec attribute) {
  STRIA_RETURN_IF_ERROR(check_open());
  return refuse(definitions_.set_attribute(std::move(attribute)));
}

Status WriteSession::refuse(const Status& status) {
  const Status why = status.with_context(fmt::format("'{}'", path_));
  poison(why);
  return why;
}

Status WriteSession::flush() {
  STRIA_RETURN_IF_ERROR(check_open());
  poison(or_out_of_memory([&] { return set_chunked_aside(true); }));
  auto shape = agree_on_pending(Call::kFlush);
  const Status status = shape.ok() ? comm().agree(move(*shape, false)) : shape.status();
  note_time();
  return status.ok() ? status : fail(status);
}

Status WriteSession::commit() {
  STRIA_RETURN_IF_ERROR(check_open());
  poison(or_out_of_memory([&] { return set_chunked_aside(false); }));
  poison(or_out_of_memory([&] { return define_checksums(); }));
  auto shape = agree_on_pending(Call::kCommit);
  if (shape.ok() && has_chunks()) {
    shape = pack_chunks(*shape);
  }
  const Status status = shape.ok() ? complete(move(*shape, true)) : shape.status();
  note_time();
  if (!status.ok()) {
    return fail(status);
  }
  finished_ = true;
  packed_.clear();
  return Status();
}

Status WriteSession::define_checksums() {
  if (!options_.checksums) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(row_tables_, define_checksum_tables(catalog_, *layout_, definitions_));
  return Status();
}

Result<access::RequestShape> WriteSession::agree_on_pending(Call call) {
  poison(set_reserve_aside());
  return agree_on_request(call, true);
}

Status WriteSession::move(const access::RequestShape& shape, bool last) {
  // Without a plan this rank would not know what the others expect of it.
  const auto plan = reserve_.surely([&] { return access::make_plan(shape, capabilities_, environment_.hints, comm()); });
  reserve_.attempt([&] { note_plan(plan); });
  const auto* alone = plan.as<access::Alone>();
  const bool in_turns = alone != nullptr && alone->in_batches && capabilities_.node_local_cache && comm().size() > 1 &&
                        shape.total_bytes >= kWorthTurnsBytes;
  NodeTurn* node = in_turns ? comm().node_turn() : nullptr;  // whose memory tells of failures too
  const FailureWord on_node = node != nullptr ? node->begin_operation() : FailureWord();
  const bool all_on_node = node != nullptr && comm().node_size() == comm().size();
  access::WordSignal by_memory(on_node);
  std::optional<access::MessageSignal> by_messages;
  access::AbortSignal* signal = &by_memory;
  if (alone != nullptr && !all_on_node && shape.total_bytes >= access::kWorthTellingBytes) {
    signal = &by_messages.emplace(comm(), reserve_, on_node);
  }
  const auto use = access::plan_storage(shape, options_.sync, capabilities_, environment_.hints);
  const Status ready = or_out_of_memory([&] { return prepare(plan, use, last); });
  NodeTurn* turn = capabilities_.parallel_writes ? nullptr : node;
  const Status status = signal->end(transfer({.plan = plan, .aids = {.turn = turn}}, ready, *signal, last));
  if (status.ok()) {
    pending_.clear();
  }
  return status;
}

// What this rank needs before anything is moved. Rank 0 makes the metadata already, while
// the others pack.
Status WriteSession::prepare(const access::Plan& plan, const access::StorageUse& use, bool last) {
  STRIA_RETURN_IF_ERROR(reserve_.status());
  if (is_root() && use.reserve) {
    int64_t end = 0;
    for (const DatasetEntry& dataset : catalog_.datasets()) {
      end = std::max(end, dataset.extent().end);
    }
    STRIA_RETURN_IF_ERROR(file_.reserve_space(end));
  }
  if (is_root() && last) {
    PhaseTimer timer(report_.phases, Phase::kMetadata);
    const Metadata::Content content{.catalog = catalog_, .row_tables = row_tables_, .definitions = definitions_};
    STRIA_ASSIGN_OR_RETURN(metadata_, Metadata::build(*environment_.format, *layout_, content));
  }
  const auto aggregators = plan.aggregators();
  const bool aggregates = std::find(aggregators.begin(), aggregators.end(), comm().rank()) != aggregators.end();
  const bool writes = plan.as<access::Alone>() == nullptr ? aggregates : !pending_.empty();
  return file_.open({.writes = writes, .has_data = !pending_.empty(), .direct = use.direct});
}

// Moves what is pending, if this rank is `ready`. Sums that are known early are sent to rank 0
// before the last bytes are written.
Status WriteSession::transfer(access::AsPlanned planned, const Status& ready, access::AbortSignal& signal, bool last) {
  auto set = or_out_of_memory([&] {
    if (options_.checksums) {
      place_row_sums(catalog_.datasets());
    }
    return TransferSet::create(pending_, catalog_.datasets(), {.checksums = options_.checksums, .value_ranges = true});
  });
  const Status begun = ready.ok() ? set.status() : ready;
  const bool alone = planned.plan.as<access::Alone>() != nullptr;
  if (!alone && !comm().agree(begun).ok() && begun.ok()) {
    // The exchange needs all ranks.
    return Status(ErrorCode::kAborted, "another rank could not begin to write");
  }
  if (!begun.ok() || (alone && file_.cached() == nullptr)) {
    return begun;  // without a file there is nothing to write here
  }
  return or_out_of_memory([&] {
    std::optional<Status> kept;
    std::vector<storage::WriteSegment> sums;
    planned.aids.direct_file = file_.direct();
    if (last && alone) {  // an exchange must not fail for want of the memory that this takes
      planned.aids.packed = [&]() -> std::span<const storage::WriteSegment> {
        kept = hand_in(keep(**set));
        sums = gathered_.take_row_sums();
        return sums;
      };
    }
    access::Context context{.comm = comm(),
                            .file = file_.cached(),
                            .hints = environment_.hints,
                            .times = report_.phases,
                            // Under its temporary name.
                            .others = {.known = access::OtherWriters::Known::kNobody},
                            .signal = &signal};
    const auto moved = access::move(context, (*set)->lanes(), access::Endpoint::of_write(**set), planned);
    if (!moved.status.ok()) {
      return moved.status;
    }
    return kept ? *kept : keep(**set);
  });
}

// What was gathered while packing.
Status WriteSession::keep(TransferSet& set) {
  PhaseTimer timer(report_.phases, Phase::kPack);
  return or_out_of_memory([&] {
    gathered_.keep(set, pending_, catalog_);
    return Status();
  });
}

// Sends rank 0 what was gathered, or why there is nothing. Returns what this rank's outcome is now.
Status WriteSession::hand_in(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  auto message = or_out_of_memory([&]() -> Result<std::vector<std::byte>> {
    if (!mine.ok()) {
      return encode_outcome(mine, {});
    }
    gathered_.lay_out(row_tables_, catalog_);
    return encode_outcome(mine, gathered_.encode(catalog_));
  });
  parts_.start(comm(), message.ok() ? std::move(*message) : encode_outcome(message.status(), {}));
  return mine.ok() ? message.status() : mine;
}

// After this rank's data were moved, or failed to be. With a method of several ranks, what was
// gathered is sent to rank 0 only now.
Status WriteSession::complete(Status mine) {
  if (!parts_.started()) {
    mine = hand_in(mine);
  }
  if (mine.ok()) {
    mine = write_row_sums();
  }
  if (options_.sync && comm().node_size() < comm().size()) {
    mine = sync_other_nodes(mine);
  }
  mine.update(file_.close_handles());
  finish_parts();
  const Status made = is_root() && mine.ok() ? or_out_of_memory([&] { return write_metadata(); }) : Status();
  Status outcome = collect(mine);
  if (is_root() && outcome.ok()) {
    outcome = made.ok() ? or_out_of_memory([&] { return publish(); }) : made;
    outcome = comm().size() == 1 ? outcome : outcome.with_context("rank 0");
  }
  outcome = share_outcome(outcome);
  file_.release();  // no rank waits for their memory any more
  return outcome;
}

// Writes the row sums that were not written together with the last data.
Status WriteSession::write_row_sums() {
  return or_out_of_memory([&]() -> Status {
    const std::vector<storage::WriteSegment> sums = gathered_.take_row_sums();
    if (sums.empty()) {
      return Status();
    }
    PhaseTimer timer(report_.phases, Phase::kCommit);
    return file_.cached()->write(sums);
  });
}

// One rank per node makes the node's writes durable. On rank 0's node, rank 0 does so after it has
// written the metadata.
Status WriteSession::sync_other_nodes(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kSync);
  if (!comm().agree(mine).ok()) {
    return mine.ok() ? Status(ErrorCode::kAborted, "another rank could not write") : mine;
  }
  return comm().node_rank() == 0 && !is_root() ? file_.sync() : Status();
}

void WriteSession::finish_parts() {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  parts_.finish();
}

// Rank 0, while others may still write their last bytes: the metadata with what all ranks gathered.
Status WriteSession::write_metadata() {
  {
    PhaseTimer timer(report_.phases, Phase::kMetadata);
    STRIA_ASSIGN_OR_RETURN(const auto messages, parts_.take());
    STRIA_ASSIGN_OR_RETURN(const auto parts, open_parts(messages));
    GatheredByAll gathered(catalog_, row_tables_.size());
    for (const std::vector<std::byte>& part : parts) {
      STRIA_RETURN_IF_ERROR(gathered.add(part, catalog_));
    }
    STRIA_RETURN_IF_ERROR(metadata_->finish(std::move(gathered), options_.checksums));
  }
  return file_.write(metadata_->image());
}

Status WriteSession::collect(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  const auto message = reserve_.surely([&] { return encode_outcome(mine, {}); });
  Status failure;
  comm().gather(message, 0, [&](int rank, std::span<const std::byte> piece) {
    reserve_.surely([&] { keep_first(failure, decode_outcome(piece).status(), rank, comm().size()); });
  });
  return failure;
}

// Rank 0, when everything is written.
Status WriteSession::publish() {
  report_.file_bytes = metadata_->image().file_bytes;
  return file_.publish(report_.file_bytes, options_.sync);
}

Status WriteSession::share_outcome(const Status& mine) {
  PhaseTimer timer(report_.phases, Phase::kCommit);
  int64_t outcome[2] = {mine.ok() ? 0 : 1, file_.is_published() ? 1 : 0};
  comm().broadcast(std::as_writable_bytes(std::span(outcome)), 0);
  file_.note_published(outcome[1] != 0);
  if (outcome[0] == 0) {
    return Status();
  }
  std::vector<std::byte> message;
  if (is_root()) {
    message = encode_outcome(mine, {});
  }
  comm().broadcast_bytes(message, 0);
  return decode_outcome(message).status();
}

Status WriteSession::abandon() {
  if (finished_) {
    return Status();  // nothing of it is left on any rank
  }
  const Status status = meet(Call::kAbandon, Status());
  discard();
  return status;
}

void WriteSession::leave(std::string_view reason) noexcept {
  if (!finished_) {
    Session::leave(reason);
    discard();
  }
}

Status WriteSession::fail(const Status& status) {
  discard();
  const char* state =
      file_.is_published() ? "is complete and has its name, but may not survive a power loss" : "was not written";
  return status.with_context(fmt::format("'{}' {}", path_, state));
}

// Local.
void WriteSession::discard() noexcept {
  finished_ = true;
  file_.discard();
}

}  // namespace stria::file
