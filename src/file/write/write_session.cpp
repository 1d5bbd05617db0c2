#include "file/write/write_session.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/staging_pool.hpp"
#include "file/background/background.hpp"
#include "file/write/checksum_tables.hpp"
#include "file/write/data_move.hpp"

namespace stria::file {

namespace {

std::unique_ptr<container::Layout> make_layout(const Environment& environment, bool is_new) {
  const int parts = is_new && environment.problem.ok() ? part_count(environment) : 0;
  return parts > 0 ? std::make_unique<PartedLayout>(*environment.format, parts) : environment.format->make_layout();
}

}  // namespace

WriteSession::WriteSession(Environment environment, const std::string& path, const CreateOptions& options,
                           std::shared_ptr<RollCall> roll_call, Kind kind)
    : Session(std::move(environment), path, std::move(roll_call)),
      kind_(kind),
      options_(options),
      layout_(make_layout(environment_, kind == Kind::kNew)),
      definitions_({.catalog = catalog_, .layout = layout_, .log = log_, .before = old_.catalog},
                   environment_.hints.alignment_bytes, is_root()),
      file_(environment_, stored_path_, identity_, report_.phases, kind == Kind::kGrowing),
      gathering_(comm(), catalog_, report_.phases),
      publication_({.comm = comm(),
                    .options = options_,
                    .file = file_,
                    .gathering = gathering_,
                    .reserve = reserve_,
                    .report = report_}) {
  if (auto* const parted = dynamic_cast<PartedLayout*>(layout_.get())) {
    parts_ = std::make_unique<Parts>(environment_, stored_path_, *parted);
  }
  const uint64_t choices = (options.sync ? 2 : 0) + (options.checksums ? 1 : 0) + 4 * static_cast<uint64_t>(options.format) +
                           (options.track_order ? 64 : 0);
  const uint64_t hash = combine_hashes(hash_of_opening(), choices);
  log_.add(hash, 1, [this] {
    DefinitionText text = describe_opening(grows() ? "append" : "create");
    text.arguments.emplace_back("sync", options_.sync ? "true" : "false");
    text.arguments.emplace_back("checksums", options_.checksums ? "true" : "false");
    text.arguments.emplace_back("track_order", options_.track_order ? "true" : "false");
    text.arguments.emplace_back("format", fmt::format("{}", static_cast<int>(options_.format)));
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
    return std::shared_ptr<WriteSession>(new WriteSession(std::move(environment), path, options, roll_call, Kind::kNew));
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
  if (status.ok() && session.parts_ != nullptr) {
    status = session.begin_parts();
  }
  if (!status.ok()) {
    return session.fail(status);
  }
  return made;
}

// Collective, with the same outcome everywhere.
Status WriteSession::begin_parts() {
  if (is_netcdf(format())) {
    return Status(ErrorCode::kUnsupported, "stria_subfiles: a netCDF file can't have its data in other files");
  }
  STRIA_RETURN_IF_ERROR(parts_->create());
  // Past the page cache only where that is asked for.
  const bool direct = environment_.hints.direct == access::Switch::kEnable;
  capabilities_ = storage::parted_capabilities(capabilities_, parts_->map()->part_count() < comm().size(), direct);
  if (!direct) {
    environment_.hints.direct = access::Switch::kDisable;
  }
  file_.spread(parts_->map());
  return Status();
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

Status WriteSession::create_link(container::LinkSpec link) {
  STRIA_RETURN_IF_ERROR(check_open());
  return refuse(definitions_.create_link(std::move(link)));
}

std::string WriteSession::how_opened() const {
  return grows() ? "is open to be added to: use append_rows() or update(), or open() to read" : "is being written";
}

std::string WriteSession::why_missing(const std::string& dataset_path) const {
  return old_.catalog.find(dataset_path) ? fmt::format("{}; it has dataset '{}' already", how_opened(), dataset_path)
                                         : Session::why_missing(dataset_path);
}

Status WriteSession::flush() {
  STRIA_RETURN_IF_ERROR(check_open());
  poison(or_out_of_memory([&] { return updating_.note(pending_); }));
  poison(or_out_of_memory([&] { return set_chunked_aside(true); }));
  // Rows that lie among others' are behind the tables: nothing more can be defined.
  poison(or_out_of_memory([&] { return layout_->interleaves() ? settle_all(false) : settle(false); }));
  auto shape = agree_on_pending(Call::kFlush);
  const Status filled = shape.ok() ? fill_gaps(false) : shape.status();
  const Status status = filled.ok() ? comm().agree(move(*shape, false)) : filled;
  note_time();
  return status.ok() ? status : fail(status);
}

Status WriteSession::commit() {
  STRIA_RETURN_IF_ERROR(check_open());
  Background::Queue none;
  return end(Call::kCommit, none);
}

// What is added to a file must lie in it before the bytes that make it valid.
Result<std::shared_ptr<const BackgroundCommit>> WriteSession::commit_async() {
  STRIA_RETURN_IF_ERROR(check_open());
  Background::Queue one;
  if (!grows() && parts_ == nullptr) {
    poison(or_out_of_memory([&] { return make_background_commit(one); }));
  } else {
    say_in_the_call(grows() ? "the file grows" : "the file is in parts (stria_subfiles)");
  }
  STRIA_RETURN_IF_ERROR(end(Call::kCommitAsync, one));
  if (one.empty()) {
    return std::shared_ptr<const BackgroundCommit>();
  }
  file_.depart();
  std::shared_ptr<const BackgroundCommit> commit = one.front();
  Background::instance().take(one);
  return commit;
}

Status WriteSession::make_background_commit(Background::Queue& one) {
  STRIA_RETURN_IF_ERROR(Background::instance().start());
  int64_t limit_bytes = environment_.hints.staging_limit_bytes;
  if (limit_bytes < 0) {
    limit_bytes = default_staging_bytes();
  }
  one.push_back(std::make_shared<BackgroundCommit>(BackgroundCommit::About{.path = path_,
                                                                           .stored_path = stored_path_,
                                                                           .trace_id = trace_id_,
                                                                           .sync = options_.sync,
                                                                           .writers = environment_.hints.staging_writers,
                                                                           .bytes_a_second = environment_.hints.staging_rate,
                                                                           .wait_limits = wait_limits()},
                                                   limit_bytes / comm().node_size(), comm()));
  return Status();
}

void WriteSession::say_in_the_call(const std::string& why) {
  reserve_.attempt([&] {
    environment_.hint_warnings.push_back(
        fmt::format("commit_async() of '{}' does the whole commit before it returns: {}", path_, why));
  });
}

// Nodes that can't reach each other commit in the call.
Status WriteSession::begin_to_stage(Background::Queue& one) {
  STRIA_RETURN_IF_ERROR(one.front()->share(comm()));
  if (const Status joined = one.front()->join(comm()); !joined.ok()) {
    say_in_the_call(joined.message());
    one.clear();
    return Status();
  }
  file_.stage(*one.front());
  plan_for_staging();
  return Status();
}

// Nothing is read of the file: what is staged couldn't be seen.
void WriteSession::plan_for_staging() {
  capabilities_ = staged_capabilities(capabilities_);
  access::ResolvedHints& hints = environment_.hints;
  hints.sieve_writes = access::Switch::kDisable;
  hints.direct = access::Switch::kDisable;
  if (hints.method != access::Method::kTwoPhase && hints.method != access::Method::kAutomatic) {
    hints.method = access::Method::kListIo;
  }
}

Status WriteSession::end(Call call, Background::Queue& one) {
  poison(or_out_of_memory([&] { return updating_.note(pending_); }));
  poison(or_out_of_memory([&] { return set_chunked_aside(false); }));
  const bool changes = !grows() || definitions_.any();
  poison(or_out_of_memory([&] { return changes ? settle_all(true) : Status(); }));
  auto shape = agree_on_pending(call);
  if (shape.ok() && !changes) {
    discard();
    return Status();
  }
  if (shape.ok()) {
    const Status filled = fill_gaps(true);
    shape = filled.ok() ? shape : filled;
  }
  if (shape.ok() && !one.empty()) {
    const Status begun = begin_to_stage(one);
    shape = begun.ok() ? shape : begun;
  }
  if (shape.ok() && has_chunks()) {
    shape = pack_chunks(*shape);
  }
  Status status = shape.status();
  if (shape.ok()) {
    const Status moved = move(*shape, true);
    status = publication_.complete(updating_.any() ? sum_updates(moved) : moved);
  }
  note_time();
  if (!status.ok()) {
    return fail(status);
  }
  finished_ = true;
  packed_ = {};
  if (parts_ != nullptr) {
    report_.file_bytes += parts_->map()->bytes_of_parts();
  }
  if (parts_ != nullptr && is_root()) {
    parts_->clear_others();
  }
  return Status();
}

// Gives all datasets their final places, and the puts of those whose rows lie among others' theirs.
Status WriteSession::settle(bool complete) {
  if (settled_) {
    return Status();
  }
  settled_ = true;
  STRIA_RETURN_IF_ERROR(layout_->settle(complete));
  for (DatasetEntry& entry : catalog_.datasets()) {
    if (entry.data_offset >= 0 && !entry.is_old) {
      layout_->finish_place(entry.spec);
      entry.data_offset = entry.spec.data_offset;
    }
  }
  for (Transfer& transfer : pending_) {
    const DatasetEntry& entry = catalog_[transfer.dataset];
    if (entry.is_interleaved()) {
      STRIA_ASSIGN_OR_RETURN(transfer, make_transfer(transfer.dataset, entry, transfer.slab, transfer.memory));
    }
  }
  return Status();
}

// Defines the tables of the checksums, when all datasets and tables are defined, and settles the
// places.
Status WriteSession::settle_all(bool complete) {
  if (parts_ != nullptr) {
    STRIA_RETURN_IF_ERROR(parts_->define_table(catalog_, definitions_));
  }
  if (!options_.checksums || (settled_ && layout_->interleaves())) {
    return settle(complete);
  }
  const bool was_settled = settled_;
  STRIA_ASSIGN_OR_RETURN(auto tables, define_checksum_tables(catalog_, old_, *layout_, definitions_));
  STRIA_RETURN_IF_ERROR(settle(complete));
  for (size_t i = 0; !was_settled && i < tables.size(); ++i) {
    container::DatasetSpec spec = tables[i].spec(old_.checksums.tables.size() + i);
    layout_->finish_place(spec);
    tables[i].data_offset = spec.data_offset;
  }
  gathering_.set_tables(std::move(tables));
  return Status();
}

Result<access::RequestShape> WriteSession::agree_on_pending(Call call) {
  poison(set_reserve_aside());
  poison(or_out_of_memory([&] { return count_sums(); }));
  auto shape = agree_on_request(call, true);
  if (shape.ok()) {
    STRIA_RETURN_IF_ERROR(place_behind_sums(*shape, call != Call::kFlush));
  }
  if (shape.ok() && file_.may_be_staged() && !std::exchange(is_placed_, true)) {
    agree_on_place();
  }
  return shape;
}

Status WriteSession::move(const access::RequestShape& agreed, bool last) {
  access::RequestShape shape = with_lanes(agreed);
  shape.durable = options_.sync;
  // Without a plan this rank would not know what the others expect of it.
  const auto plan = reserve_.surely([&] { return access::make_plan(shape, capabilities_, environment_.hints, comm()); });
  reserve_.attempt([&] { note_plan(plan); });
  const auto use = access::plan_storage(shape, capabilities_, environment_.hints);
  DataMove data({.environment = environment_,
                 .capabilities = capabilities_,
                 .datasets = catalog_.datasets(),
                 .file = file_,
                 .gathering = gathering_,
                 .reserve = reserve_,
                 .times = report_.phases,
                 .progress = progress_},
                plan, shape);
  // What is summed when all is written isn't handed in before.
  const bool updates = updating_.any();
  // Rank 0 makes the metadata already, while the others pack; but before the first byte of what the
  // file has is overwritten, so that no reason remains to give up afterwards.
  const auto make_metadata = [&] {
    if (is_root() && last && parts_ != nullptr) {
      parts_->name_sources(catalog_);
    }
    const Metadata::Content content{.catalog = catalog_,
                                    .row_tables = gathering_.tables(),
                                    .definitions = definitions_,
                                    .old = old_,
                                    .keeps_order = options_.track_order};
    return is_root() && (last || updates) ? publication_.build_metadata(*environment_.format, *layout_, content) : Status();
  };
  if (updates) {
    STRIA_RETURN_IF_ERROR(comm().agree(or_out_of_memory(make_metadata)));
  }
  may_have_overwritten_ = may_have_overwritten_ || updates;
  const DataMove::What what{.pending = pending_, .checksums = options_.checksums, .last = last && !updates};
  Status status = data.run(use, what, [&] { return updates ? Status() : make_metadata(); });
  if (status.ok() && last && parts_ != nullptr) {
    status = or_out_of_memory([&] { return finish_parts(); });
  }
  if (status.ok()) {
    pending_.clear();
  }
  return status;
}

// The outcome is this rank's own.
Status WriteSession::finish_parts() {
  STRIA_RETURN_IF_ERROR(parts_->finish(catalog_, options_.sync));
  return file_.close_parts(options_.sync);
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
  if (is_of_call_not_begun(status)) {
    return status;
  }
  const char* state = file_.is_published() ? grows() ? "may have what was added, and may lose it in a power loss"
                                                     : "is complete and has its name, but may not survive a power loss"
                      : may_have_overwritten_
                          ? "may have a part of what was put into datasets of before, whose checksums then tell"
                      : grows() ? "was not changed"
                                : "was not written";
  return status.with_context(fmt::format("'{}' {}", path_, state));
}

// Local. A forked process leaves the files of its parent alone.
void WriteSession::discard() noexcept {
  finished_ = true;
  if (!is_of_this_process()) {
    return;
  }
  old_.growth.reset();
  file_.discard();
  if (parts_ != nullptr && !file_.is_published()) {
    parts_->discard();
  }
}

}  // namespace stria::file
