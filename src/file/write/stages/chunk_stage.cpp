#include "file/write/stages/chunk_stage.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/chunks/chunk_packer.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

bool ChunkStage::any() const {
  return means_.catalog.has_packed();
}

Status ChunkStage::set_aside(std::vector<Transfer>& pending, bool memory_may_change, int64_t& aside_bytes) {
  const auto first = std::stable_partition(
      pending.begin(), pending.end(), [&](const Transfer& transfer) { return !means_.catalog[transfer.dataset].is_packed(); });
  for (auto transfer = first; transfer != pending.end(); ++transfer) {
    aside_bytes += transfer->region.size();
    if (memory_may_change) {
      const ByteRange all{0, transfer->memory.type.size()};
      STRIA_RETURN_IF_ERROR(hold_memory(*transfer, std::span(&all, 1)));
    }
    waiting_.push_back(std::move(*transfer));
  }
  pending.erase(first, pending.end());
  return Status();
}

Result<access::RequestShape> ChunkStage::pack(const How& how, const access::RequestShape& shape,
                                              std::vector<Transfer>& pending) {
  PhaseTimer timer(means_.times, Phase::kPack);
  Status kept;
  STRIA_RETURN_IF_ERROR(make_chunks(how, kept));
  STRIA_ASSIGN_OR_RETURN(const Sizes sizes, measure(kept));
  access::RequestShape all = shape;
  const Status placed = or_out_of_memory([&] { return place(sizes, all, pending); });
  STRIA_RETURN_IF_ERROR(means_.comm.agree(placed));
  return all;
}

// Collective, and the error is agreed on; `kept` is this rank's own.
Status ChunkStage::make_chunks(const How& how, Status& kept) {
  auto set = or_out_of_memory([&] {
    return TransferSet::create(waiting_, means_.catalog.datasets(), {.checksums = how.checksums, .value_ranges = true});
  });
  std::unique_ptr<ChunkPacker> packer;
  const auto make_packer = [&] {
    packer = std::make_unique<ChunkPacker>(means_.comm, means_.catalog, waiting_, **set, how.threads,
                                           [this](int dataset, int64_t chunk, std::span<std::byte> out) {
                                             return means_.old.fill_chunk(means_.catalog[dataset].spec.path, chunk, out);
                                           });
    return Status();
  };
  const Status ready = set.ok() ? or_out_of_memory(make_packer) : set.status();
  STRIA_RETURN_IF_ERROR(ready.ok() ? packer->pack(packed_) : means_.comm.agree(ready));
  kept = means_.gathering.keep(**set, waiting_);
  return Status();
}

// Collective, and the error is agreed on.
Result<ChunkStage::Sizes> ChunkStage::measure(const Status& kept) {
  Sizes sizes;
  const Status counted = or_out_of_memory([&] {
    for (const PackedChunks& packed : packed_.datasets) {
      sizes.before.push_back(packed.size());
      sizes.pieces += packed.size() > 0 ? 1 : 0;
    }
    sizes.totals = sizes.before;
    sizes.totals.push_back(sizes.pieces);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(means_.comm.agree(kept.ok() ? counted : kept));
  means_.comm.exclusive_scan(sizes.before);
  means_.comm.all_reduce(sizes.totals, ReduceOp::kSum);
  sizes.pieces = sizes.totals.back();
  return sizes;
}

Status ChunkStage::place(const Sizes& sizes, access::RequestShape& shape, std::vector<Transfer>& pending) {
  shape.piece_count += sizes.pieces;
  for (int i = 0; i < means_.catalog.size(); ++i) {
    DatasetEntry& dataset = means_.catalog[i];
    if (dataset.is_packed()) {
      const int64_t total = sizes.totals[static_cast<size_t>(i)];
      STRIA_ASSIGN_OR_RETURN(dataset.data_offset, means_.places.layout()->place_chunks(dataset.spec, total));
      dataset.stored_bytes = total;
      shape.total_bytes += total;
      put_chunks(i, sizes.before[static_cast<size_t>(i)], pending);
    }
  }
  return Status();
}

// The rows of a put that are chunks as they are.
void ChunkStage::take_rows(const ChunkPiece& piece, int64_t chunk_bytes, Transfer& rows) const {
  const Transfer& put = waiting_[static_cast<size_t>(piece.transfer)];
  const int64_t row_bytes = means_.catalog[put.dataset].row_bytes();
  rows.whole_rows = true;
  rows.first_row = put.first_row + piece.stream_begin / row_bytes;
  rows.row_count = piece.bytes / row_bytes;
  rows.stream_begin = piece.stream_begin;
  rows.raw_chunks = {.chunk_bytes = chunk_bytes, .first = piece.first_chunk};
  rows.memory = put.memory;
}

// The packed chunks of a dataset, behind `before` bytes of other ranks, to be moved like
// any other bytes.
void ChunkStage::put_chunks(int dataset, int64_t before, std::vector<Transfer>& pending) {
  PackedChunks& packed = packed_.datasets[static_cast<size_t>(dataset)];
  if (packed.size() == 0) {
    return;
  }
  for (SummedChunk& chunk : packed.chunks()) {
    chunk.place.offset += means_.catalog[dataset].data_offset + before;
  }
  for (const ChunkPiece& piece : packed.pieces()) {
    Transfer transfer;
    transfer.dataset = dataset;
    transfer.region = Datatype::bytes(piece.bytes);
    transfer.displacement = before;
    if (piece.memory != nullptr) {
      transfer.stored = true;
      transfer.memory = Memory(piece.memory, transfer.region, ElementType::kByte);
    } else {
      take_rows(piece, packed.chunks()[piece.first_chunk].place.bytes, transfer);
    }
    pending.push_back(std::move(transfer));
    before += piece.bytes;
  }
  means_.gathering.keep_chunks(dataset, std::move(packed.chunks()));
}

}  // namespace stria::file
