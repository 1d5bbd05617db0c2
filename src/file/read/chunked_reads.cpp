// Gets from datasets in chunks, each rank by itself.
#include <algorithm>
#include <optional>
#include <utility>

#include "file/chunks/chunk_unpacker.hpp"
#include "file/read/read_session.hpp"
#include "file/verify/get_checks.hpp"

namespace stria::file {

Status ReadSession::read_chunks(const std::vector<Transfer>& transfers, ProgressMeter& progress) {
  if (transfers.empty()) {
    return Status();
  }
  if (checks()) {
    STRIA_RETURN_IF_ERROR(load_chunk_sums());
  }
  STRIA_ASSIGN_OR_RETURN(
      const auto set,
      TransferSet::create(transfers, catalog_.datasets(), {.checksums = checks(), .progress = &progress, .own_lanes = true}));
  STRIA_RETURN_IF_ERROR(ChunkUnpacker({.catalog = catalog_,
                                       .transfers = transfers,
                                       .set = *set,
                                       .chunks = chunks_,
                                       .times = report_.phases,
                                       .signal = signal_})
                            .run());
  return checks() ? check_gets(summed(), transfers, *set) : Status();
}

// Once, for this rank.
Status ReadSession::load_chunk_sums() {
  if (chunk_sums_loaded_ || !catalog_.find(kChunkSumsPath)) {
    return Status();
  }
  // A file without chunks has a table without sums, which one rank looks at for all.
  const auto datasets = catalog_.datasets();
  if (comm().rank() != 0 && std::none_of(datasets.begin(), datasets.end(), [](const auto& one) { return one.is_chunked(); })) {
    return Status();
  }
  if (reader_ == nullptr) {
    STRIA_ASSIGN_OR_RETURN(reader_, container::open_file(*file_));
  }
  STRIA_ASSIGN_OR_RETURN(std::optional<ChunkSums> sums, read_chunk_sums(summed(), reader_->superblock()));
  if (sums) {
    chunks_.compare_with(std::move(*sums));
  }
  chunk_sums_loaded_ = true;
  return Status();
}

Result<int64_t> ReadSession::stored_bytes(int number) {
  STRIA_RETURN_IF_ERROR(check_open());
  const DatasetEntry& entry = dataset(number);
  if (!entry.is_chunked()) {
    return entry.data_offset >= 0 || entry.data_bytes() == 0 ? entry.data_bytes() : int64_t{-1};
  }
  return or_out_of_memory([&]() -> Result<int64_t> {
    STRIA_RETURN_IF_ERROR(open_handle());
    return chunks_.stored_bytes(number);
  });
}

}  // namespace stria::file
