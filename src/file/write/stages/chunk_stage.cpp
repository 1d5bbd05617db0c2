#include "file/write/stages/chunk_stage.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/out_of_memory.hpp"
#include "file/chunks/chunk_packer.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// Makes the chunks of one commit. The steps stand in pack_chunks().
class ChunkMaking {
 public:
  /// Says where chunks lie: of each dataset, the bytes of the ranks before this one and those of
  /// all ranks; and the pieces of all.
  struct Sizes {
    std::vector<int64_t> before;
    std::vector<int64_t> totals;
    int64_t pieces = 0;
  };
  ChunkMaking(const ChunkWork& work, ChunkPuts& puts) : work_(work), puts_(puts) {}

  Status make_chunks(Status& kept);
  Result<Sizes> measure(const Status& kept);
  Status place(const Sizes& sizes, access::RequestShape& shape, std::vector<Transfer>& pending);

 private:
  void take_rows(const ChunkPiece& piece, int64_t chunk_bytes, Transfer& rows) const;
  void put_chunks(int dataset, int64_t before, std::vector<Transfer>& pending);

  const ChunkWork& work_;
  ChunkPuts& puts_;
};

// Collective, and the error is agreed on; `kept` is this rank's own.
Status ChunkMaking::make_chunks(Status& kept) {
  auto set = or_out_of_memory([&] {
    return TransferSet::create(puts_.waiting, work_.catalog.datasets(), {.checksums = work_.checksums, .value_ranges = true});
  });
  std::unique_ptr<ChunkPacker> packer;
  const auto make_packer = [&] {
    packer = std::make_unique<ChunkPacker>(work_.comm, work_.catalog, puts_.waiting, **set, work_.threads,
                                           [this](int dataset, int64_t chunk, std::span<std::byte> out) {
                                             return work_.old.fill_chunk(work_.catalog[dataset].spec.path, chunk, out);
                                           });
    return Status();
  };
  const Status ready = set.ok() ? or_out_of_memory(make_packer) : set.status();
  STRIA_RETURN_IF_ERROR(ready.ok() ? packer->pack(puts_.packed) : work_.comm.agree(ready));
  kept = work_.gathering.keep(**set, puts_.waiting, work_.catalog, work_.times);
  return Status();
}

// Collective, and the error is agreed on.
Result<ChunkMaking::Sizes> ChunkMaking::measure(const Status& kept) {
  Sizes sizes;
  const Status counted = or_out_of_memory([&] {
    for (const PackedChunks& packed : puts_.packed.datasets) {
      sizes.before.push_back(packed.size());
      sizes.pieces += packed.size() > 0 ? 1 : 0;
    }
    sizes.totals = sizes.before;
    sizes.totals.push_back(sizes.pieces);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(work_.comm.agree(kept.ok() ? counted : kept));
  work_.comm.exclusive_scan(sizes.before);
  work_.comm.all_reduce(sizes.totals, ReduceOp::kSum);
  sizes.pieces = sizes.totals.back();
  return sizes;
}

Status ChunkMaking::place(const Sizes& sizes, access::RequestShape& shape, std::vector<Transfer>& pending) {
  shape.piece_count += sizes.pieces;
  for (int i = 0; i < work_.catalog.size(); ++i) {
    DatasetEntry& dataset = work_.catalog[i];
    if (dataset.is_packed()) {
      const int64_t total = sizes.totals[static_cast<size_t>(i)];
      STRIA_ASSIGN_OR_RETURN(dataset.data_offset, work_.layout.place_chunks(dataset.spec, total));
      dataset.stored_bytes = total;
      shape.total_bytes += total;
      put_chunks(i, sizes.before[static_cast<size_t>(i)], pending);
    }
  }
  return Status();
}

// Takes the rows of a put that are chunks as they are.
void ChunkMaking::take_rows(const ChunkPiece& piece, int64_t chunk_bytes, Transfer& rows) const {
  const Transfer& put = puts_.waiting[static_cast<size_t>(piece.transfer)];
  const int64_t row_bytes = work_.catalog[put.dataset].row_bytes();
  rows.whole_rows = true;
  rows.first_row = put.first_row + piece.stream_begin / row_bytes;
  rows.row_count = piece.bytes / row_bytes;
  rows.stream_begin = piece.stream_begin;
  rows.raw_chunks = {.chunk_bytes = chunk_bytes, .first = piece.first_chunk};
  rows.memory = put.memory;
}

// The packed chunks of a dataset, behind `before` bytes of other ranks, to be moved like
// any other bytes.
void ChunkMaking::put_chunks(int dataset, int64_t before, std::vector<Transfer>& pending) {
  PackedChunks& packed = puts_.packed.datasets[static_cast<size_t>(dataset)];
  if (packed.size() == 0) {
    return;
  }
  for (SummedChunk& chunk : packed.chunks()) {
    chunk.place.offset += work_.catalog[dataset].data_offset + before;
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
  work_.gathering.keep_chunks(dataset, std::move(packed.chunks()));
}

}  // namespace

Status set_chunk_puts_aside(const Catalog& catalog, std::vector<Transfer>& pending, bool memory_may_change, ChunkPuts& puts,
                            int64_t& aside_bytes) {
  const auto first = std::stable_partition(pending.begin(), pending.end(),
                                           [&](const Transfer& transfer) { return !catalog[transfer.dataset].is_packed(); });
  for (auto transfer = first; transfer != pending.end(); ++transfer) {
    aside_bytes += transfer->region.size();
    if (memory_may_change) {
      const ByteRange all{0, transfer->memory.type.size()};
      STRIA_RETURN_IF_ERROR(hold_memory(*transfer, std::span(&all, 1)));
    }
    puts.waiting.push_back(std::move(*transfer));
  }
  pending.erase(first, pending.end());
  return Status();
}

Result<access::RequestShape> pack_chunks(const ChunkWork& work, const access::RequestShape& shape, ChunkPuts& puts,
                                         std::vector<Transfer>& pending) {
  PhaseTimer timer(work.times, Phase::kPack);
  ChunkMaking making(work, puts);
  Status kept;
  STRIA_RETURN_IF_ERROR(making.make_chunks(kept));
  STRIA_ASSIGN_OR_RETURN(const ChunkMaking::Sizes sizes, making.measure(kept));
  access::RequestShape all = shape;
  const Status placed = or_out_of_memory([&] { return making.place(sizes, all, pending); });
  STRIA_RETURN_IF_ERROR(work.comm.agree(placed));
  return all;
}

}  // namespace stria::file
