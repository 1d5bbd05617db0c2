#include "file/write/write_session.hpp"

#include <fmt/format.h>

#include <utility>

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
  STRIA_RETURN_IF_ERROR(check_open());
  const auto agreed = agree(Call::kFlush);
  const Status filled = agreed.ok() ? fill_gaps(false) : agreed.status();
  const Status status = filled.ok() ? comm().agree(move(agreed->shape, false)) : filled;
  note_time();
  if (!status.ok()) {
    return fail(status);
  }
  guard_.release();
  return Status();
}

Status WriteSession::commit() {
  STRIA_RETURN_IF_ERROR(check_open());
  return end(Call::kCommit, nullptr);
}

Result<std::shared_ptr<const BackgroundCommit>> WriteSession::commit_async() {
  STRIA_RETURN_IF_ERROR(check_open());
  BackgroundStage stage;
  if (parts_ != nullptr) {
    stay_in_call(stage, "the file is in parts (stria_subfiles)");
  } else {
    poison(or_out_of_memory([&] {
      return stage.prepare({.path = path_,
                            .stored_path = stored_path_,
                            .trace_id = trace_id_,
                            .sync = options_.sync,
                            .writers = environment_.hints.staging_writers,
                            .bytes_a_second = environment_.hints.staging_rate,
                            .wait_limits = wait_limits()},
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
  note_time();
  if (!status.ok()) {
    return fail(status);
  }
  if (parity_ != nullptr) {
    parity_->end(file_, report_.file_bytes, options_.sync);
  }
  finished_ = true;
  chunk_puts_.release();
  guard_.release();
  if (parts_ != nullptr) {
    report_.file_bytes += parts_->map()->bytes_of_parts();
  }
  if (parts_ != nullptr && is_root()) {
    parts_->clear_others();
  }
  if (is_root() && !grows() && environment_.hints.home_every > 0) {
    reserve_.attempt([&] { note_turn(stored_path_, environment_.hints.part_places.empty()); });
  }
  return Status();
}

Aside WriteSession::take_stock(bool last) {
  Aside aside;
  poison(or_out_of_memory([&] { return check_puts(); }));
  if (environment_.hints.put_overlaps != access::Switch::kEnable) {
    poison(or_out_of_memory([&] { return gathering_.note_puts(pending_); }));
  }
  poison(or_out_of_memory([&] { return note_touched(catalog_, old_, pending_, touched_); }));
  poison(or_out_of_memory([&] { return set_chunk_puts_aside(catalog_, pending_, !last, chunk_puts_, aside.useful_bytes); }));
  poison(or_out_of_memory([&] { return !last || changes() ? settle(last) : Status(); }));
  poison(set_reserve_aside());
  if (is_root() && (!last || changes())) {
    poison(or_out_of_memory([&] { return file_.growing() != nullptr ? file_.growing()->clear_behind_end() : Status(); }));
  }
  const auto sum_bytes = or_out_of_memory([&]() -> Result<int64_t> {
    const bool tables_too = is_root() && !room_.is_kept();
    return needs_room_for_sums() ? count_sum_records(catalog_, pending_, tables_too ? &definitions_ : nullptr) : 0;
  });
  poison(sum_bytes.status());
  aside.sum_bytes = sum_bytes.ok() ? *sum_bytes : 0;
  return aside;
}

Result<Agreed> WriteSession::agree(Call call) {
  const bool last = call != Call::kFlush;
  const Aside aside = take_stock(last);
  STRIA_ASSIGN_OR_RETURN(const Agreed agreed, agree_on_request(call, true, aside));
  STRIA_RETURN_IF_ERROR(needs_room_for_sums() ? keep_room_for_sums(agreed, last) : Status());
  if (file_.awaits_place()) {
    // Chunks may need as much as was put.
    const int64_t raw_bytes = places_.layout()->end() + (catalog_.has_packed() ? report_.useful_bytes : 0);
    agree_on_place({.environment = environment_,
                    .path = path_,
                    .file = file_,
                    .reserve = reserve_,
                    .capabilities = capabilities_,
                    .identity = identity_},
                   raw_bytes);
  }
  return agreed;
}

Status WriteSession::keep_room_for_sums(const Agreed& agreed, bool last) {
  const bool was_kept = room_.is_kept();
  if (!room_.fits(
          catalog_,
          {.record_bytes = agreed.sum_bytes, .put_bytes = agreed.shape.total_bytes, .ranks = comm().size(), .last = last})) {
    give_up_sums();
  } else if (!was_kept) {
    const int64_t seal_bytes = Metadata::seal_bytes(gathering_.tables().size(), definitions_.tables().size());
    return place_behind_room(*places_.layout(), catalog_, room_.room_bytes(), seal_bytes);
  }
  return Status();
}

// The same on every rank, before anything is moved.
void WriteSession::give_up_sums() {
  options_.checksums = false;
  definitions_.drop_own_tables();
  gathering_.drop_sums();
  for (DatasetEntry& entry : catalog_.datasets()) {
    entry.checksum_group = -1;
  }
  reserve_.attempt([&] {
    environment_.hint_warnings.push_back(fmt::format(
        "'{}' gets no checksums: its puts have more parts of rows than its first flush() kept room for; put whole rows",
        path_));
  });
}

// Before anything is made of the puts, or moves. From here on their memory is read again at once.
Status WriteSession::check_puts() {
  PhaseTimer timer(report_.phases, Phase::kPack);
  report_.copied_bytes = guard_.most_bytes();
  return guard_.check(pending_, catalog_.datasets());
}

// Rows that lie among others' are behind the tables: nothing more can be defined.
Status WriteSession::settle(bool last) {
  if (last && parts_ != nullptr) {
    STRIA_RETURN_IF_ERROR(parts_->define_table(catalog_, definitions_));
  }
  const bool is_complete = last || places_.layout()->interleaves();
  if (!options_.checksums || !is_complete) {
    return places_.settle(last, pending_);
  }
  return places_.settle_with_tables(last, pending_,
                                    {.old = old_.content(), .definitions = definitions_, .gathering = gathering_});
}

Status WriteSession::fill_gaps(bool last) {
  const GapWork work{
      .comm = comm(), .catalog = catalog_, .capabilities = capabilities_, .file = file_, .times = report_.phases};
  STRIA_ASSIGN_OR_RETURN(filled_, file::fill_gaps(work, std::move(filled_), pending_, last));
  return Status();
}

Status WriteSession::begin_staging(BackgroundStage& stage) {
  if (updates_any(catalog_)) {  // what is written is read again for its sums
    stay_in_call(stage, "it overwrites data that the file has");
  }
  if (!stage.is_prepared()) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(stage.share(comm()));
  if (const Status joined = stage.join(comm()); !joined.ok()) {
    stay_in_call(stage, joined.message());
    return Status();
  }
  stage.receive(file_);
  plan_for_staging(environment_.hints, capabilities_);
  return Status();
}

void WriteSession::stay_in_call(BackgroundStage& stage, const std::string& why) {
  reserve_.attempt([&] {
    environment_.hint_warnings.push_back(
        fmt::format("commit_async() of '{}' does the whole commit before it returns: {}", path_, why));
  });
  stage.give_up();
}

Result<access::RequestShape> WriteSession::make_ready(const Agreed& agreed, BackgroundStage* stage) {
  STRIA_RETURN_IF_ERROR(fill_gaps(true));
  STRIA_RETURN_IF_ERROR(stage != nullptr ? begin_staging(*stage) : Status());
  if (!catalog_.has_packed()) {
    return agreed.shape;
  }
  return pack_chunks({.comm = comm(),
                      .catalog = catalog_,
                      .layout = *places_.layout(),
                      .gathering = gathering_,
                      .old = old_,
                      .times = report_.phases,
                      .checksums = options_.checksums,
                      .threads = static_cast<int>(environment_.hints.compress_threads)},
                     agreed.shape, chunk_puts_, pending_);
}

Status WriteSession::complete(const access::RequestShape& shape) {
  Status moved = move(shape, true);
  if (updates_any(catalog_)) {
    moved = sum_again(
        {.comm = comm(), .catalog = catalog_, .old = old_, .file = file_, .gathering = gathering_, .times = report_.phases},
        touched_, moved, options_.checksums);
  }
  return publish({.comm = comm(),
                  .options = options_,
                  .file = file_,
                  .gathering = gathering_,
                  .reserve = reserve_,
                  .report = report_,
                  .parity = grows() ? nullptr : parity_.get()},
                 std::move(metadata_), moved);
}

Status WriteSession::move(const access::RequestShape& agreed, bool last) {
  if (parity_ != nullptr && grows()) {
    STRIA_RETURN_IF_ERROR(parity_->begin_growing());
  }
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
  // Rank 0 makes the metadata already, while the others pack; but before the first byte of what the
  // file has is overwritten, so that no reason remains to give up afterwards.
  const bool updates = updates_any(catalog_);
  if (updates) {
    STRIA_RETURN_IF_ERROR(comm().agree(or_out_of_memory([&] { return make_metadata(last); })));
    overwrites_ = true;
  }
  // What is summed when all is written isn't handed in before.
  const DataMove::What what{.pending = pending_, .checksums = options_.checksums, .last = last && !updates};
  Status status = data.run(use, what, [&] { return last && !updates ? make_metadata(last) : Status(); });
  reserve_.attempt([&] { note_choice(plan, data.choice()); });
  if (status.ok() && last && parts_ != nullptr) {
    status = or_out_of_memory([&]() -> Status {
      STRIA_RETURN_IF_ERROR(parts_->finish(catalog_, options_.sync));
      return file_.handles().close_parts(options_.sync);
    });
  }
  if (status.ok()) {
    pending_.clear();
  }
  return status;
}

// On rank 0.
Status WriteSession::make_metadata(bool last) {
  if (!is_root()) {
    return Status();
  }
  if (last && parts_ != nullptr) {
    parts_->name_sources(catalog_);
  }
  PhaseTimer timer(report_.phases, Phase::kMetadata);
  STRIA_ASSIGN_OR_RETURN(metadata_, Metadata::build(*environment_.format, *places_.layout(),
                                                    {.catalog = catalog_,
                                                     .row_tables = gathering_.tables(),
                                                     .definitions = definitions_,
                                                     .old = old_.content(),
                                                     .keeps_order = options_.track_order}));
  return Status();
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
  if (put_off_) {
    return status;
  }
  const char* state = !file_.is_published() && overwrites_
                          ? "may have a part of what was put into datasets of before, whose checksums then tell"
                          : state_after_failure(grows(), file_.is_published());
  return status.with_context(fmt::format("'{}' {}", path_, state));
}

// Local. A forked process leaves the files of its parent alone.
void WriteSession::discard() noexcept {
  finished_ = true;
  pending_.clear();  // datasets that outlive the file keep the session, but no copies
  chunk_puts_.release();
  guard_.release();
  if (!calls_.is_of_this_process()) {
    return;
  }
  old_.close();
  file_.discard();
  if (parity_ != nullptr && !file_.is_published()) {
    parity_->discard();
  }
  if (parts_ != nullptr && !file_.is_published()) {
    parts_->discard();
  }
}

}  // namespace stria::file
