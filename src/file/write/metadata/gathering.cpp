#include "file/write/metadata/gathering.hpp"

#include <utility>

#include "base/out_of_memory.hpp"
#include "file/meet/outcome_message.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

Status Gathering::keep(TransferSet& set, std::span<const Transfer> transfers, const Catalog& catalog, PhaseTimes& times) {
  PhaseTimer timer(times, Phase::kPack);
  return or_out_of_memory([&] { return gathered_.keep(set, transfers, catalog); });
}

Status Gathering::hand_in(Status mine, Comm& comm, const Catalog& catalog, PhaseTimes& times) {
  if (parts_.started()) {
    return mine;
  }
  PhaseTimer timer(times, Phase::kCommit);
  auto message = or_out_of_memory([&]() -> Result<std::vector<std::byte>> {
    if (!mine.ok()) {
      return encode_outcome(mine, {});
    }
    gathered_.lay_out(tables_, catalog);
    return encode_outcome(mine, gathered_.encode(catalog));
  });
  parts_.start(comm, message.ok() ? std::move(*message) : encode_outcome(message.status(), {}));
  mine.update(message.status());
  return mine;
}

Status Gathering::write_row_sums(storage::File* file, PhaseTimes& times) {
  return or_out_of_memory([&]() -> Status {
    const std::vector<storage::WriteSegment> sums = take_row_sums();
    if (sums.empty()) {
      return Status();
    }
    PhaseTimer timer(times, Phase::kCommit);
    return file->write(sums);
  });
}

void Gathering::finish(PhaseTimes& times) {
  PhaseTimer timer(times, Phase::kCommit);
  parts_.finish();
}

Result<GatheredByAll> Gathering::take_all(const Catalog& catalog) {
  STRIA_ASSIGN_OR_RETURN(const auto messages, parts_.take());
  Status failure;
  GatheredByAll all(catalog, tables_.size());
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    const auto part = decode_outcome(messages[rank]);
    keep_first_failure(failure, part.status(), static_cast<int>(rank), static_cast<int>(messages.size()));
    if (failure.ok()) {
      STRIA_RETURN_IF_ERROR(all.add(*part, catalog));
    }
  }
  STRIA_RETURN_IF_ERROR(failure);
  STRIA_RETURN_IF_ERROR(check_put_places(std::exchange(all.puts, {}), catalog.datasets()));
  return all;
}

}  // namespace stria::file
