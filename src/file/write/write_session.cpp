#include "file/write/write_session.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/nodes/node_places.hpp"
#include "file/parts/home_turns.hpp"
#include "file/write/publication.hpp"
#include "file/write/stages/data_move.hpp"
#include "file/write/target/placing.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

WriteSession::~WriteSession() {
  WriteSession::leave("dropped the file");
}

Status WriteSession::flush() {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  const auto agreed = agree(Call::kFlush);
  const Status filled = agreed.ok() ? fill_gaps(false) : agreed.status();
  const Status status = filled.ok() ? comm().agree(move(agreed->shape, false).outcome) : filled;
  accounts_.note_time();
  if (!status.ok()) {
    return fail(status);
  }
  guard_.release();
  return Status();
}

Status WriteSession::commit() {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  return end(Call::kCommit, nullptr);
}

Result<std::shared_ptr<const BackgroundCommit>> WriteSession::commit_async() {
  STRIA_RETURN_IF_ERROR(meetings_.check_open());
  BackgroundStage stage;
  if (parts_ != nullptr) {
    stage.stay_in_call(staged(), "the file is in parts (stria_subfiles)");
  } else {
    meetings_.poison(or_out_of_memory([&] {
      return stage.prepare({.path = path_,
                            .stored_path = stored_path_,
                            .trace_id = accounts_.trace_id(),
                            .sync = options_.sync,
                            .writers = environment_.hints.staging_writers,
                            .bytes_a_second = environment_.hints.staging_rate,
                            .wait_limits = wait_limits_of(environment_.hints)},
                           comm(), environment_.hints.staging_limit_bytes);
    }));
  }
  STRIA_RETURN_IF_ERROR(end(Call::kCommitAsync, &stage));
  old_.close();  // it reads by the handle that the thread gets
  return stage.hand_over(file_);
}

Status WriteSession::end(Call call, BackgroundStage* stage) {
  const auto agreed = agree(call);
  if (agreed.ok() && !changes()) {
    discard();
    return Status();
  }
  const auto ready = agreed.ok() ? make_ready(*agreed, stage) : agreed.status();
  const Status status = ready.ok() ? complete(*ready) : ready.status();
  accounts_.note_time();
  if (!status.ok()) {
    return fail(status);
  }
  if (parity_) {
    parity_->end(of_parity(), report().file_bytes, options_.sync);
  }
  meetings_.end();
  chunk_puts_.release();
  guard_.release();
  if (parts_ != nullptr) {
    accounts_.report().file_bytes += parts_->map()->bytes_of_parts();
  }
  if (parts_ != nullptr && meetings_.is_root()) {
    parts_->clear_others({.environment = environment_, .path = stored_path_});
  }
  if (meetings_.is_root() && !grows() && environment_.hints.home_every > 0) {
    meetings_.reserve().attempt([&] { note_turn(stored_path_, environment_.hints.part_places.empty()); });
  }
  end_on_nodes(environment_);
  return Status();
}

Aside WriteSession::take_stock(bool last) {
  Aside aside;
  // The memory of the puts is read again from here on.
  meetings_.poison(or_out_of_memory([&] {
    PhaseTimer timer(accounts_.times(), Phase::kPack);
    accounts_.report().copied_bytes = guard_.most_bytes();
    return guard_.check(pending_, catalog_.datasets());
  }));
  if (environment_.hints.put_overlaps != access::Switch::kEnable) {
    meetings_.poison(or_out_of_memory([&] { return gathering_.note_puts(pending_, catalog_); }));
  }
  meetings_.poison(or_out_of_memory([&] { return note_touched(catalog_, old_, pending_, touched_); }));
  meetings_.poison(
      or_out_of_memory([&] { return set_chunk_puts_aside(catalog_, pending_, !last, chunk_puts_, aside.useful_bytes); }));
  meetings_.poison(or_out_of_memory([&] { return !last || changes() ? settle(last) : Status(); }));
  meetings_.poison(meetings_.set_reserve_aside());
  if (meetings_.is_root() && (!last || changes())) {
    meetings_.poison(
        or_out_of_memory([&] { return file_.growing() != nullptr ? file_.growing()->clear_behind_end() : Status(); }));
  }
  const auto sum_bytes = or_out_of_memory([&]() -> Result<int64_t> {
    const bool tables_too = meetings_.is_root() && !room_.is_kept();
    return options_.checksums && places_.layout()->interleaves()
               ? count_sum_records(catalog_, pending_, tables_too ? &definitions_ : nullptr)
               : 0;
  });
  meetings_.poison(sum_bytes.status());
  aside.sum_bytes = sum_bytes.ok() ? *sum_bytes : 0;
  return aside;
}

Result<Agreed> WriteSession::agree(Call call) {
  const bool last = call != Call::kFlush;
  const Aside aside = take_stock(last);
  STRIA_ASSIGN_OR_RETURN(const Agreed agreed, agree_on_request(meetings_, call, pending_, true, aside));
  accounts_.count_agreed(agreed.asked_bytes());
  if (options_.checksums && places_.layout()->interleaves()) {
    // Rows lie among each other behind everything else, so that sums must have their room before.
    STRIA_ASSIGN_OR_RETURN(
        const bool fits,
        room_.keep(
            *places_.layout(), catalog_,
            {.record_bytes = agreed.sum_bytes, .put_bytes = agreed.shape.total_bytes, .ranks = comm().size(), .last = last},
            Metadata::seal_bytes(gathering_.tables().size(), definitions_.tables().size())));
    if (!fits) {
      give_up_sums();
    }
  }
  if (file_.place().awaits_agreement()) {
    // Chunks may need as much as was put.
    const int64_t raw_bytes = places_.layout()->end() + (catalog_.has_packed() ? report().useful_bytes : 0);
    const AgreedPlace place = agree_on_place(path_, raw_bytes, file_, environment_, meetings_.reserve());
    capabilities_ = place.capabilities;
    identity_.set(place.identity);
  }
  return agreed;
}

// The same on every rank, before anything is moved.
void WriteSession::give_up_sums() {
  options_.checksums = false;
  definitions_.drop_own_tables();
  gathering_.drop_sums();
  for (DatasetEntry& entry : catalog_.datasets()) {
    entry.checksum_group = -1;
  }
  meetings_.reserve().attempt([&] {
    environment_.hint_warnings.push_back(fmt::format(
        "'{}' gets no checksums: its puts have more parts of rows than its first flush() kept room for; put whole rows",
        path_));
  });
}

// Rows that lie among others' are behind the tables: nothing more can be defined.
Status WriteSession::settle(bool last) {
  if (last && parts_ != nullptr) {
    STRIA_RETURN_IF_ERROR(parts_->define_table(target(), definitions_));
  }
  const bool is_complete = last || places_.layout()->interleaves();
  if (!options_.checksums || !is_complete) {
    return places_.settle(last, catalog_, pending_);
  }
  STRIA_ASSIGN_OR_RETURN(auto tables, places_.settle_with_tables(last, target(), pending_, old_.content(), definitions_));
  if (tables) {
    gathering_.set_tables(std::move(*tables));
  }
  return Status();
}

Status WriteSession::fill_gaps(bool last) {
  const GapWork work{
      .comm = comm(), .catalog = catalog_, .capabilities = capabilities_, .file = file_, .times = accounts_.times()};
  STRIA_ASSIGN_OR_RETURN(filled_, file::fill_gaps(work, std::move(filled_), pending_, last));
  return Status();
}

FileToStage WriteSession::staged() {
  return {.path = path_, .meetings = meetings_, .file = file_, .environment = environment_, .capabilities = capabilities_};
}

ParityWork WriteSession::of_parity() {
  return {.environment = environment_, .path = stored_path_, .file = file_, .parts = parts_.get()};
}

Result<access::RequestShape> WriteSession::make_ready(const Agreed& agreed, BackgroundStage* stage) {
  STRIA_RETURN_IF_ERROR(fill_gaps(true));
  STRIA_RETURN_IF_ERROR(stage != nullptr ? stage->begin(staged(), updates_any(catalog_)) : Status());
  if (!catalog_.has_packed()) {
    return agreed.shape;
  }
  return pack_chunks({.comm = comm(),
                      .catalog = catalog_,
                      .layout = *places_.layout(),
                      .gathering = gathering_,
                      .old = old_,
                      .times = accounts_.times(),
                      .checksums = options_.checksums,
                      .threads = static_cast<int>(environment_.hints.compress_threads)},
                     agreed.shape, chunk_puts_, pending_);
}

// Rank 0 makes the metadata already, while the others pack; but before the first byte of what the
// file has is overwritten, so that no reason remains to give up afterwards.
Moved WriteSession::move(const access::RequestShape& agreed, bool last) {
  if (parity_ && grows()) {
    if (Status begun = parity_->begin_growing(of_parity()); !begun.ok()) {
      return {.outcome = std::move(begun)};
    }
  }
  access::RequestShape shape = with_lanes(agreed, catalog_);
  shape.durable = options_.sync;
  // This rank would not know what the others expect of it, if it had no plan.
  const auto plan =
      meetings_.reserve().surely([&] { return access::make_plan(shape, capabilities_, environment_.hints, comm()); });
  meetings_.reserve().attempt([&] {
    accounts_.note_method(plan);
    accounts_.count_move(plan, environment_);
  });
  const auto use = access::plan_storage(shape, capabilities_, environment_.hints);
  MoveSignal signal(comm(), meetings_.reserve(), plan, shape, capabilities_);
  Moved moved;
  const auto make = [&]() -> Status {
    STRIA_ASSIGN_OR_RETURN(moved.metadata, make_metadata(last));
    return Status();
  };
  const bool updates = updates_any(catalog_);
  if (updates) {
    if (Status made = comm().agree(or_out_of_memory(make)); !made.ok()) {
      return {.outcome = std::move(made)};
    }
    overwrites_ = true;
  }
  // What is summed when all is written isn't handed in before.
  const bool ends = last && !updates;
  std::string choice;
  const auto prepare = [&] { return ends ? make() : Status(); };
  moved.outcome = move_data({.pending = pending_,
                             .catalog = catalog_,
                             .plan = plan,
                             .use = use,
                             .checksums = options_.checksums,
                             .last = ends,
                             .shares_writes = capabilities_.parallel_writes},
                            {.environment = environment_,
                             .file = file_,
                             .gathering = gathering_,
                             .reserve = meetings_.reserve(),
                             .times = accounts_.times(),
                             .choice = choice},
                            signal, std::ref(prepare), progress_);
  meetings_.reserve().attempt([&] { accounts_.note_choice(plan, choice, environment_); });
  if (moved.outcome.ok() && last && parts_ != nullptr) {
    moved.outcome = or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(parts_->finish({.environment = environment_, .path = stored_path_}, catalog_, options_.sync));
      return file_.handles().close_parts(options_.sync);
    });
  }
  if (moved.outcome.ok()) {
    pending_.clear();
  }
  return moved;
}

Result<std::unique_ptr<Metadata>> WriteSession::make_metadata(bool last) {
  if (!meetings_.is_root()) {
    return std::unique_ptr<Metadata>();
  }
  if (last && parts_ != nullptr) {
    parts_->name_sources(catalog_);
  }
  PhaseTimer timer(accounts_.times(), Phase::kMetadata);
  return Metadata::build(*environment_.format, *places_.layout(),
                         {.catalog = catalog_,
                          .row_tables = gathering_.tables(),
                          .definitions = definitions_,
                          .old = old_.content(),
                          .keeps_order = options_.track_order});
}

Status WriteSession::complete(const access::RequestShape& shape) {
  Moved moved = move(shape, true);
  if (updates_any(catalog_)) {
    moved.outcome = sum_again(
        {.comm = comm(), .catalog = catalog_, .old = old_, .file = file_, .gathering = gathering_, .times = accounts_.times()},
        touched_, moved.outcome, options_.checksums);
  }
  return publish({.comm = comm(),
                  .options = options_,
                  .file = file_,
                  .catalog = catalog_,
                  .gathering = gathering_,
                  .reserve = meetings_.reserve(),
                  .report = accounts_.report(),
                  .parity = parity_ && !grows() ? &*parity_ : nullptr,
                  .parity_work = of_parity()},
                 std::move(moved.metadata), moved.outcome);
}

Status WriteSession::abandon() {
  if (!meetings_.is_open()) {
    return Status();  // nothing of it is left on any rank
  }
  const Status status = meetings_.meet(Call::kAbandon, Status());
  discard();
  return status;
}

void WriteSession::leave(std::string_view reason) noexcept {
  if (meetings_.is_open()) {
    Session::leave(reason);
    discard();
  }
}

Status WriteSession::fail(const Status& status) {
  discard();
  if (meetings_.was_put_off()) {
    return status;
  }
  const char* state = !file_.is_published() && overwrites_
                          ? "may have a part of what was put into datasets of before, whose checksums then tell"
                          : state_after_failure(grows(), file_.is_published());
  return status.with_context(fmt::format("'{}' {}", path_, state));
}

// Gives the file up. Local. A forked process leaves the files of its parent alone.
void WriteSession::discard() noexcept {
  meetings_.end();
  pending_.clear();  // datasets that outlive the file keep the session, but no copies
  chunk_puts_.release();
  guard_.release();
  if (!calls_.is_of_this_process()) {
    return;
  }
  old_.close();
  file_.discard();
  const StoredFile stored{.environment = environment_, .path = stored_path_};
  if (parity_ && !file_.is_published()) {
    parity_->discard(stored);
  }
  if (parts_ != nullptr && !file_.is_published()) {
    parts_->discard(*environment_.driver);
  }
}

}  // namespace stria::file
