#include "file/write/publication.hpp"

#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

bool is_root(const Publishing& what) {
  return what.comm.rank() == 0;
}

// One rank per node makes the node's writes durable. On rank 0's node, rank 0 does so after it has
// written the metadata.
Status sync_other_nodes(const Publishing& what, const Status& mine) {
  PhaseTimer timer(what.report.phases, Phase::kSync);
  if (!what.comm.agree(mine).ok()) {
    return mine.ok() ? Status(ErrorCode::kAborted, "another rank could not write") : mine;
  }
  return what.comm.node_rank() == 0 && !is_root(what) ? what.file.sync() : Status();
}

// Rank 0, while others may still write their last bytes: the metadata with what all ranks gathered.
Status write_metadata(const Publishing& what, Metadata& metadata) {
  {
    PhaseTimer timer(what.report.phases, Phase::kMetadata);
    STRIA_ASSIGN_OR_RETURN(GatheredByAll gathered, what.gathering.take_all(what.catalog));
    STRIA_RETURN_IF_ERROR(metadata.finish(std::move(gathered), what.options.checksums));
  }
  return what.file.write(metadata.image());
}

Status collect(const Publishing& what, const Status& mine) {
  PhaseTimer timer(what.report.phases, Phase::kCommit);
  const auto message = what.reserve.surely([&] { return encode_outcome(mine, {}); });
  Status failure;
  what.comm.gather(message, 0, [&](int rank, std::span<const std::byte> piece) {
    what.reserve.surely([&] { keep_first_failure(failure, decode_outcome(piece).status(), rank, what.comm.size()); });
  });
  return failure;
}

// Rank 0, when everything is written.
Status name_file(const Publishing& what, const Metadata& metadata) {
  what.report.file_bytes = metadata.image().file_bytes;
  return what.file.publish(what.report.file_bytes, what.options.sync);
}

Status share_outcome(const Publishing& what, const Status& mine) {
  PhaseTimer timer(what.report.phases, Phase::kCommit);
  int64_t outcome[3] = {mine.ok() ? 0 : 1, what.file.is_published() ? 1 : 0, what.report.file_bytes};
  what.comm.broadcast(std::as_writable_bytes(std::span(outcome)), 0);
  what.file.note_published(outcome[1] != 0);
  what.report.file_bytes = outcome[2];
  if (outcome[0] == 0) {
    return Status();
  }
  std::vector<std::byte> message;
  if (is_root(what)) {
    message = encode_outcome(mine, {});
  }
  broadcast_bytes(what.comm, message, 0);
  return decode_outcome(message).status();
}

}  // namespace

Status publish(const Publishing& what, std::unique_ptr<Metadata> metadata, const Status& moved) {
  Status mine = what.gathering.hand_in(moved, what.comm, what.catalog, what.report.phases);
  if (mine.ok()) {
    mine = what.gathering.write_row_sums(what.file.handles().cached(), what.report.phases);
  }
  if (what.options.sync && what.comm.node_size() < what.comm.size()) {
    mine = sync_other_nodes(what, mine);
  }
  mine.update(what.file.close_handles());
  what.gathering.finish(what.report.phases);
  const Status made = is_root(what) && mine.ok() ? or_out_of_memory([&] { return write_metadata(what, *metadata); }) : Status();
  Status outcome = collect(what, mine);
  const auto said_by_root = [&](const Status& status) {
    return what.comm.size() == 1 ? status : status.with_context("rank 0");
  };
  outcome = is_root(what) && outcome.ok() ? said_by_root(made) : outcome;
  if (what.parity != nullptr && what.file.staging() == nullptr) {
    const int64_t file_bytes = is_root(what) && outcome.ok() ? metadata->image().file_bytes : 0;
    outcome = what.parity->protect(what.parity_work, outcome, file_bytes, what.options.sync);
  }
  if (is_root(what) && outcome.ok()) {
    outcome = said_by_root(or_out_of_memory([&] { return name_file(what, *metadata); }));
  }
  outcome = share_outcome(what, outcome);
  what.file.release();  // no rank waits for their memory any more
  return outcome;
}

}  // namespace stria::file
