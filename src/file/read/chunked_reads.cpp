// Gets from datasets in chunks, each rank by itself.
#include <algorithm>

#include "datatype/cursor.hpp"
#include "file/read/read_session.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

Status ReadSession::read_chunks(const std::vector<Transfer>& transfers, ProgressMeter& progress) {
  if (transfers.empty()) {
    return Status();
  }
  if (checks()) {
    STRIA_RETURN_IF_ERROR(load_chunk_sums());
  }
  STRIA_ASSIGN_OR_RETURN(const auto set,
                         TransferSet::create(transfers, catalog_.datasets(), {.checksums = checks(), .progress = &progress}));
  for (size_t i = 0; i < transfers.size(); ++i) {
    STRIA_RETURN_IF_ERROR(read_chunks_of(transfers[i], static_cast<int>(i), *set));
  }
  return checks() ? checker_.check_sums(transfers, *set) : Status();
}

// A chunk that memory is to have as it is, read straight into there; 0 where the next one isn't.
Result<int64_t> ReadSession::read_whole_chunk(const Transfer& transfer, ByteRange piece, std::byte* target) {
  if (target == nullptr) {
    return int64_t{0};
  }
  PhaseTimer timer(report_.phases, Phase::kRead);
  return chunks_.whole_into(transfer.dataset, piece.begin, {target, static_cast<size_t>(piece.size())});
}

// In the order of the file, chunk by chunk: the runs of a chunk that follow each other are
// unpacked together.
Status ReadSession::read_chunks_of(const Transfer& transfer, int stream_id, TransferSet& set) {
  for (Cursor cursor(transfer.region, transfer.displacement); !cursor.done();) {
    STRIA_RETURN_IF_ERROR(access::failure_elsewhere(signal_));
    const ByteRange piece = cursor.piece();
    std::byte* const target = set.straight_target(stream_id);
    const int64_t at = cursor.stream_position();
    STRIA_ASSIGN_OR_RETURN(const int64_t whole, read_whole_chunk(transfer, piece, target != nullptr ? target + at : nullptr));
    if (whole > 0) {
      set.passed_direct(stream_id, at, at + whole);
      cursor.advance(whole);
      continue;
    }
    std::span<std::byte> data;
    {
      PhaseTimer timer(report_.phases, Phase::kRead);
      STRIA_ASSIGN_OR_RETURN(data, chunks_.from(transfer.dataset, piece.begin));
    }
    const int64_t bytes = std::min(piece.size(), static_cast<int64_t>(data.size()));
    PhaseTimer timer(report_.phases, Phase::kUnpack);
    const access::StreamPart part{stream_id, at, at + bytes, data.data()};
    set.unpack(std::span(&part, 1));
    cursor.advance(bytes);
  }
  return Status();
}

// Once, for this rank.
Status ReadSession::load_chunk_sums() {
  if (chunk_sums_loaded_ || !catalog_.find(kChunkSumsPath)) {
    return Status();
  }
  if (reader_ == nullptr) {
    STRIA_ASSIGN_OR_RETURN(reader_, container::open_file(*file_));
  }
  STRIA_RETURN_IF_ERROR(checker_.load_chunk_sums(reader_->superblock()));
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
