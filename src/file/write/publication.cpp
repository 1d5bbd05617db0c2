#include "file/write/publication.hpp"

#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// One rank per node makes the node's writes durable. On rank 0's node, rank 0 does so after it has
// written the metadata.
Status sync_other_nodes(OpenFile& file, NewFile& target, Status mine) {
  PhaseTimer timer(file.accounts.times(), Phase::kSync);
  if (!file.comm().agree(mine).ok()) {
    if (mine.ok()) {
      mine = file.meetings.reserve().surely([] { return Status(ErrorCode::kAborted, "another rank could not write"); });
    }
    return mine;
  }
  return file.comm().node_rank() == 0 && !file.meetings.is_root() ? target.sync(file) : Status();
}

// Rank 0, while others may still write their last bytes: the metadata with what all ranks gathered.
Status write_metadata(OpenFile& file, const Publishing& what, Metadata& metadata) {
  {
    PhaseTimer timer(file.accounts.times(), Phase::kMetadata);
    STRIA_ASSIGN_OR_RETURN(GatheredByAll gathered, what.gathering.take_all(file.catalog));
    STRIA_RETURN_IF_ERROR(metadata.finish(std::move(gathered), what.options.checksums));
  }
  return what.target.write(file, metadata.image());
}

Status collect(OpenFile& file, const Status& mine) {
  PhaseTimer timer(file.accounts.times(), Phase::kCommit);
  const auto message = file.meetings.reserve().surely([&] { return encode_outcome(mine, {}); });
  Status failure;
  // What this captures fits into the std::function: it must not want memory any more.
  file.comm().gather(message, 0, [&](int rank, std::span<const std::byte> piece) {
    file.meetings.reserve().surely(
        [&] { keep_first_failure(failure, decode_outcome(piece).status(), rank, file.comm().size()); });
  });
  return failure;
}

// The text of a failure has room in the memory that was set aside: no rank may leave the others in
// a broadcast.
Status share_outcome(OpenFile& file, NewFile& target, const Status& mine) {
  PhaseTimer timer(file.accounts.times(), Phase::kCommit);
  access::MemoryReserve& reserve = file.meetings.reserve();
  std::vector<std::byte> failure;
  if (file.meetings.is_root() && !mine.ok()) {
    failure = reserve.surely([&] { return encode_outcome(mine, {}); });
  }
  int64_t& file_bytes = file.accounts.report().file_bytes;
  int64_t outcome[3] = {std::ssize(failure), target.is_published() ? 1 : 0, file_bytes};
  file.comm().broadcast(std::as_writable_bytes(std::span(outcome)), 0);
  target.note_published(outcome[1] != 0);
  file_bytes = outcome[2];
  if (outcome[0] == 0) {
    return Status();
  }
  reserve.surely([&] { failure.resize(static_cast<size_t>(outcome[0])); });
  file.comm().broadcast(failure, 0);
  return reserve.surely([&] { return decode_outcome(failure).status(); });
}

}  // namespace

Status publish(OpenFile& file, const Publishing& what, Moved moved) {
  Comm& comm = file.comm();
  PhaseTimes& times = file.accounts.times();
  const bool is_root = file.meetings.is_root();
  STRIA_CHECK(moved.metadata != nullptr || !is_root || !moved.outcome.ok(), moved.outcome);
  Status mine = what.gathering.hand_in(std::move(moved.outcome), comm, file.catalog, times);
  if (mine.ok()) {
    mine = what.gathering.write_row_sums(what.target.handles().cached(), times);
  }
  if (what.options.sync && comm.node_size() < comm.size()) {
    mine = sync_other_nodes(file, what.target, std::move(mine));
  }
  mine.update(what.target.close_handles(file));
  what.gathering.finish(times);
  const Status made =
      is_root && mine.ok() ? or_out_of_memory([&] { return write_metadata(file, what, *moved.metadata); }) : Status();
  Status outcome = collect(file, mine);
  const auto said_by_root = [&](const Status& status) {
    return file.meetings.reserve().surely([&] { return comm.size() == 1 ? status : status.with_context("rank 0"); });
  };
  if (is_root && outcome.ok()) {
    outcome = said_by_root(made);
  }
  if (what.parity != nullptr && what.target.staging() == nullptr) {
    const int64_t file_bytes = is_root && outcome.ok() ? moved.metadata->image().file_bytes : 0;
    outcome = what.parity->protect(file, what.target,
                                   {.parts = what.parts, .outcome = outcome, .bytes = file_bytes, .sync = what.options.sync});
  }
  if (is_root && outcome.ok()) {
    outcome = said_by_root(or_out_of_memory([&] {
      file.accounts.report().file_bytes = moved.metadata->image().file_bytes;
      return what.target.publish(file, file.accounts.report().file_bytes, what.options.sync);
    }));
  }
  outcome = share_outcome(file, what.target, outcome);
  what.target.release();  // no rank waits for their memory any more
  return outcome;
}

}  // namespace stria::file
