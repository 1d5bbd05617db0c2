#include "file/write/write_session.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/define/columns.hpp"
#include "file/define/names.hpp"
#include "file/nodes/node_places.hpp"
#include "file/parts/home_turns.hpp"
#include "file/write/stages/data_move.hpp"
#include "file/write/target/placing.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// Gives everything its final place; where nothing more can be defined, tables too. Rows that lie
// among others' are behind the tables: nothing more can be defined then. Local.
Status settle(OpenFile& file, Defined& defined, Gathering& gathering, const Parts* parts, bool last) {
  if (last && parts != nullptr) {
    STRIA_RETURN_IF_ERROR(parts->define_table(defined.target(file), defined.definitions));
  }
  const bool is_complete = last || defined.places.layout()->interleaves();
  if (!defined.options.checksums || !is_complete) {
    return defined.places.settle(last, file.catalog, file.pending);
  }
  STRIA_ASSIGN_OR_RETURN(auto tables, defined.places.settle_with_tables(last, defined.target(file), file.pending,
                                                                        defined.old.content(), defined.definitions));
  if (tables) {
    gathering.set_tables(std::move(*tables));
  }
  return Status();
}

// The file gets no sums from now on, and those that were taken are dropped. The same on every rank,
// before anything is moved.
void give_up_sums(OpenFile& file, Defined& defined, Gathering& gathering) {
  defined.options.checksums = false;
  defined.definitions.drop_own_tables();
  gathering.drop_sums();
  for (DatasetEntry& entry : file.catalog.datasets()) {
    entry.checksum_group = -1;
  }
  file.meetings.reserve().attempt([&] {
    file.environment.hint_warnings.push_back(fmt::format(
        "'{}' gets no checksums: its puts have more parts of rows than its first flush() kept room for; put whole rows",
        file.path));
  });
}

// Makes the metadata on rank 0; returns nothing on others.
Result<std::unique_ptr<Metadata>> make_metadata(OpenFile& file, const Defined& defined, const Gathering& gathering,
                                                const Parts* parts, bool last) {
  if (!file.meetings.is_root()) {
    return std::unique_ptr<Metadata>();
  }
  if (last && parts != nullptr) {
    parts->name_sources(file.catalog);
  }
  PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
  return Metadata::build(*file.environment.format, *defined.places.layout(),
                         {.catalog = file.catalog,
                          .row_tables = gathering.tables(),
                          .definitions = defined.definitions,
                          .old = defined.old.content(),
                          .keeps_order = defined.options.track_order});
}

}  // namespace

WriteSession::~WriteSession() {
  WriteSession::leave("dropped the file");
}

Result<int> WriteSession::find(const std::string& dataset_path) {
  if (!file_.catalog.find(dataset_path) && defined_.old.content().catalog.find(dataset_path)) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' {}; it has dataset '{}' already", file_.path, how_opened(file_),
                                                    without_leading_slash(dataset_path)));
  }
  return find_dataset(file_, dataset_path);
}

Result<std::vector<Column>> WriteSession::read_columns(const std::string& dataset_path, int64_t& row_bytes) {
  STRIA_RETURN_IF_ERROR(file_.meetings.check_open());
  const Catalog& before = defined_.old.content().catalog;
  const auto number = file_.catalog.find(dataset_path);
  const auto old = before.find(dataset_path);
  if (!number && !old) {
    return Status(ErrorCode::kNotFound, fmt::format("'{}' has no dataset '{}'", file_.path, dataset_path));
  }
  const container::DatasetSpec& spec = number ? file_.catalog[*number].spec : before[*old].spec;
  row_bytes = spec.element.bytes;
  return list_columns(spec);
}

Status WriteSession::flush() {
  STRIA_RETURN_IF_ERROR(file_.meetings.check_open());
  const auto agreed = agree(Call::kFlush);
  const Status filled = agreed.ok() ? fill_gaps(file_, target_, filled_, false) : agreed.status();
  Status status = filled.ok() ? file_.comm().agree(move(agreed->shape, false).outcome) : filled;
  file_.accounts.note_time();
  if (!status.ok()) {
    return fail(std::move(status));
  }
  guard_.release();
  return Status();
}

Status WriteSession::commit() {
  STRIA_RETURN_IF_ERROR(file_.meetings.check_open());
  return end(Call::kCommit, nullptr);
}

Result<std::shared_ptr<const BackgroundCommit>> WriteSession::commit_async() {
  STRIA_RETURN_IF_ERROR(file_.meetings.check_open());
  BackgroundStage stage;
  if (parts_ != nullptr) {
    stage.stay_in_call(file_, "the file is in parts (stria_subfiles)");
  } else {
    file_.meetings.poison(or_out_of_memory([&] {
      return stage.prepare({.path = file_.path,
                            .stored_path = file_.stored_path,
                            .trace_id = file_.accounts.trace_id(),
                            .sync = defined_.options.sync,
                            .writers = file_.environment.hints.staging_writers,
                            .bytes_a_second = file_.environment.hints.staging_rate,
                            .wait_limits = wait_limits_of(file_.environment.hints)},
                           file_.comm(), file_.environment.hints.staging_limit_bytes);
    }));
  }
  STRIA_RETURN_IF_ERROR(end(Call::kCommitAsync, &stage));
  defined_.old.close();  // it reads by the handle that the thread gets
  return stage.hand_over(file_, target_);
}

Status WriteSession::end(Call call, BackgroundStage* stage) {
  const auto agreed = agree(call);
  if (agreed.ok() && !defined_.changes(file_)) {
    discard();
    return Status();
  }
  const auto ready = agreed.ok() ? make_ready(*agreed, stage) : agreed.status();
  Status status = ready.ok() ? complete(*ready) : ready.status();
  file_.accounts.note_time();
  if (!status.ok()) {
    return fail(std::move(status));
  }
  if (parity_) {
    parity_->end(file_, target_, defined_.options.sync);
  }
  file_.meetings.end();
  chunk_puts_.release();
  guard_.release();
  if (parts_ != nullptr) {
    file_.accounts.report().file_bytes += parts_->map()->bytes_of_parts();
  }
  if (parts_ != nullptr && file_.meetings.is_root()) {
    parts_->clear_others(file_.stored());
  }
  if (file_.meetings.is_root() && !file_.grows() && file_.environment.hints.home_every > 0) {
    file_.meetings.reserve().attempt([&] { note_turn(file_.stored_path, file_.environment.hints.part_places.empty()); });
  }
  end_on_nodes(file_.environment);
  return Status();
}

Aside WriteSession::take_stock(bool last) {
  Aside aside;
  // The memory of the puts is read again from here on.
  file_.meetings.poison(or_out_of_memory([&] {
    PhaseTimer timer(file_.accounts.times(), Phase::kPack);
    file_.accounts.report().copied_bytes = guard_.most_bytes();
    return guard_.check(file_.pending, file_.catalog.datasets());
  }));
  if (file_.environment.hints.put_overlaps != access::Switch::kEnable) {
    file_.meetings.poison(or_out_of_memory([&] { return gathering_.note_puts(file_.pending, file_.catalog); }));
  }
  file_.meetings.poison(or_out_of_memory([&] { return note_touched(file_.catalog, defined_.old, file_.pending, touched_); }));
  file_.meetings.poison(or_out_of_memory([&] { return set_chunk_puts_aside(file_, !last, chunk_puts_, aside.useful_bytes); }));
  file_.meetings.poison(or_out_of_memory(
      [&] { return !last || defined_.changes(file_) ? settle(file_, defined_, gathering_, parts_.get(), last) : Status(); }));
  file_.meetings.poison(file_.meetings.set_reserve_aside());
  if (file_.meetings.is_root() && (!last || defined_.changes(file_))) {
    file_.meetings.poison(
        or_out_of_memory([&] { return target_.growing() != nullptr ? target_.growing()->clear_behind_end() : Status(); }));
  }
  const auto sum_bytes = or_out_of_memory([&]() -> Result<int64_t> {
    const bool tables_too = file_.meetings.is_root() && !room_.is_kept();
    return defined_.options.checksums && defined_.places.layout()->interleaves()
               ? count_sum_records(file_.catalog, file_.pending, tables_too ? &defined_.definitions : nullptr)
               : 0;
  });
  file_.meetings.poison(sum_bytes.status());
  aside.sum_bytes = sum_bytes.ok() ? *sum_bytes : 0;
  return aside;
}

Result<Agreed> WriteSession::agree(Call call) {
  const bool last = call != Call::kFlush;
  const Aside aside = take_stock(last);
  STRIA_ASSIGN_OR_RETURN(const Agreed agreed, agree_on_request(file_.meetings, call, file_.pending, true, aside));
  file_.accounts.count_agreed(agreed.asked_bytes());
  if (defined_.options.checksums && defined_.places.layout()->interleaves()) {
    // Rows lie among each other behind everything else, so that sums must have their room before.
    STRIA_ASSIGN_OR_RETURN(const bool fits,
                           room_.keep(*defined_.places.layout(), file_.catalog,
                                      {.record_bytes = agreed.sum_bytes,
                                       .put_bytes = agreed.shape.total_bytes,
                                       .ranks = file_.comm().size(),
                                       .last = last},
                                      Metadata::seal_bytes(gathering_.tables().size(), defined_.definitions.tables().size())));
    if (!fits) {
      give_up_sums(file_, defined_, gathering_);
    }
  }
  if (target_.place().awaits_agreement()) {
    // Chunks may need as much as was put.
    const int64_t raw_bytes =
        defined_.places.layout()->end() + (file_.catalog.has_packed() ? file_.accounts.report().useful_bytes : 0);
    agree_on_place(file_, target_, raw_bytes);
  }
  return agreed;
}

Result<access::RequestShape> WriteSession::make_ready(const Agreed& agreed, BackgroundStage* stage) {
  STRIA_RETURN_IF_ERROR(fill_gaps(file_, target_, filled_, true));
  STRIA_RETURN_IF_ERROR(stage != nullptr ? stage->begin(file_, target_, updates_any(file_.catalog)) : Status());
  if (!file_.catalog.has_packed()) {
    return agreed.shape;
  }
  return pack_chunks(file_, defined_, gathering_, agreed.shape, chunk_puts_);
}

// Rank 0 makes the metadata already, while the others pack; but before the first byte of what the
// file has is overwritten, so that no reason remains to give up afterwards.
Moved WriteSession::move(const access::RequestShape& agreed, bool last) {
  if (parity_ && file_.grows()) {
    if (Status begun = parity_->begin_growing(file_); !begun.ok()) {
      return {.outcome = std::move(begun)};
    }
  }
  access::RequestShape shape = with_lanes(agreed, file_.catalog);
  shape.durable = defined_.options.sync;
  const access::Plan plan = plan_move(file_, shape);
  const auto use = access::plan_storage(shape, file_.capabilities, file_.environment.hints);
  MoveSignal signal(file_, plan, shape);
  Moved moved;
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(moved.metadata, make_metadata(file_, defined_, gathering_, parts_.get(), last));
    return Status();
  };
  const bool updates = updates_any(file_.catalog);
  if (updates) {
    if (Status made = file_.comm().agree(or_out_of_memory(make)); !made.ok()) {
      return {.outcome = std::move(made)};
    }
    overwrites_ = true;
  }
  // What is summed when all is written isn't handed in before.
  const bool ends = last && !updates;
  const auto prepare = [&] { return ends ? make() : Status(); };
  moved.outcome = move_data(file_,
                            {.target = target_,
                             .gathering = gathering_,
                             .plan = plan,
                             .use = use,
                             .checksums = defined_.options.checksums,
                             .last = ends},
                            signal, std::ref(prepare));
  if (moved.outcome.ok() && last && parts_ != nullptr) {
    moved.outcome = or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(parts_->finish(file_.stored(), file_.catalog, defined_.options.sync));
      return target_.handles().close_parts(defined_.options.sync);
    });
  }
  if (moved.outcome.ok()) {
    file_.pending.clear();
  }
  return moved;
}

Status WriteSession::complete(const access::RequestShape& shape) {
  Moved moved = move(shape, true);
  if (updates_any(file_.catalog)) {
    moved.outcome = file_.comm().agree(moved.outcome);
    if (moved.outcome.ok()) {
      moved.outcome = sum_again(file_, defined_, target_, gathering_, touched_);
    }
  }
  return publish(file_,
                 {.target = target_,
                  .gathering = gathering_,
                  .options = defined_.options,
                  .parity = parity_ && !file_.grows() ? &*parity_ : nullptr,
                  .parts = parts_.get()},
                 std::move(moved));
}

Status WriteSession::abandon() {
  if (!file_.meetings.is_open()) {
    return Status();  // nothing of it is left on any rank
  }
  const Status status = file_.meetings.meet(Call::kAbandon, Status());
  discard();
  return status;
}

void WriteSession::leave(std::string_view reason) noexcept {
  if (file_.meetings.is_open()) {
    file::leave(file_, reason);
    discard();
  }
}

Status WriteSession::fail(Status status) {
  discard();
  if (file_.meetings.was_put_off()) {
    return status;
  }
  const char* state = !target_.is_published() && overwrites_
                          ? "may have a part of what was put into datasets of before, whose checksums then tell"
                          : state_after_failure(file_.grows(), target_.is_published());
  file_.meetings.reserve().attempt([&] { status = status.with_context(fmt::format("'{}' {}", file_.path, state)); });
  return status;
}

// Gives the file up. Local. A forked process leaves the files of its parent alone.
void WriteSession::discard() noexcept {
  file_.meetings.end();
  file_.pending.clear();  // datasets that outlive the file keep the session, but no copies
  chunk_puts_.release();
  guard_.release();
  if (!file_.calls.is_of_this_process()) {
    return;
  }
  defined_.old.close();
  target_.discard();
  if (parity_ && !target_.is_published()) {
    parity_->discard(file_.stored());
  }
  if (parts_ != nullptr && !target_.is_published()) {
    parts_->discard(*file_.environment.driver);
  }
}

}  // namespace stria::file
