#include "file/write/publication.hpp"

#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

Status Publication::build_metadata(const container::FileFormat& format, const container::Layout& layout,
                                   const Metadata::Content& content) {
  PhaseTimer timer(means_.report.phases, Phase::kMetadata);
  STRIA_ASSIGN_OR_RETURN(metadata_, Metadata::build(format, layout, content));
  return Status();
}

Status Publication::complete(Status mine) {
  mine = means_.gathering.hand_in(mine);
  if (mine.ok()) {
    mine = means_.gathering.write_row_sums(means_.file.cached());
  }
  if (means_.options.sync && means_.comm.node_size() < means_.comm.size()) {
    mine = sync_other_nodes(mine);
  }
  mine.update(means_.file.close_handles());
  means_.gathering.finish();
  const Status made = is_root() && mine.ok() ? or_out_of_memory([&] { return write_metadata(); }) : Status();
  Status outcome = collect(mine);
  if (is_root() && outcome.ok()) {
    outcome = made.ok() ? or_out_of_memory([&] { return publish(); }) : made;
    outcome = means_.comm.size() == 1 ? outcome : outcome.with_context("rank 0");
  }
  outcome = share_outcome(outcome);
  means_.file.release();  // no rank waits for their memory any more
  return outcome;
}

// One rank per node makes the node's writes durable. On rank 0's node, rank 0 does so after it has
// written the metadata.
Status Publication::sync_other_nodes(const Status& mine) {
  PhaseTimer timer(means_.report.phases, Phase::kSync);
  if (!means_.comm.agree(mine).ok()) {
    return mine.ok() ? Status(ErrorCode::kAborted, "another rank could not write") : mine;
  }
  return means_.comm.node_rank() == 0 && !is_root() ? means_.file.sync() : Status();
}

// Rank 0, while others may still write their last bytes: the metadata with what all ranks gathered.
Status Publication::write_metadata() {
  {
    PhaseTimer timer(means_.report.phases, Phase::kMetadata);
    STRIA_ASSIGN_OR_RETURN(GatheredByAll gathered, means_.gathering.take_all());
    STRIA_RETURN_IF_ERROR(metadata_->finish(std::move(gathered), means_.options.checksums));
  }
  return means_.file.write(metadata_->image());
}

Status Publication::collect(const Status& mine) {
  PhaseTimer timer(means_.report.phases, Phase::kCommit);
  const auto message = means_.reserve.surely([&] { return encode_outcome(mine, {}); });
  Status failure;
  means_.comm.gather(message, 0, [&](int rank, std::span<const std::byte> piece) {
    means_.reserve.surely([&] { keep_first_failure(failure, decode_outcome(piece).status(), rank, means_.comm.size()); });
  });
  return failure;
}

// Rank 0, when everything is written.
Status Publication::publish() {
  means_.report.file_bytes = metadata_->image().file_bytes;
  return means_.file.publish(means_.report.file_bytes, means_.options.sync);
}

Status Publication::share_outcome(const Status& mine) {
  PhaseTimer timer(means_.report.phases, Phase::kCommit);
  int64_t outcome[3] = {mine.ok() ? 0 : 1, means_.file.is_published() ? 1 : 0, means_.report.file_bytes};
  means_.comm.broadcast(std::as_writable_bytes(std::span(outcome)), 0);
  means_.file.note_published(outcome[1] != 0);
  means_.report.file_bytes = outcome[2];
  if (outcome[0] == 0) {
    return Status();
  }
  std::vector<std::byte> message;
  if (is_root()) {
    message = encode_outcome(mine, {});
  }
  means_.comm.broadcast_bytes(message, 0);
  return decode_outcome(message).status();
}

}  // namespace stria::file
