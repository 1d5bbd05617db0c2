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
  ChunkMaking(OpenFile& file, Defined& defined, Gathering& gathering, ChunkPuts& puts)
      : file_(file), defined_(defined), gathering_(gathering), puts_(puts) {}

  Status make_chunks(Status& kept);
  Result<Sizes> measure(const Status& kept);
  Status place(const Sizes& sizes, access::RequestShape& shape);

 private:
  void take_rows(const ChunkPiece& piece, int64_t chunk_bytes, Transfer& rows) const;
  void put_chunks(int dataset, int64_t before);

  OpenFile& file_;
  Defined& defined_;
  Gathering& gathering_;
  ChunkPuts& puts_;
};

// Collective, and the error is agreed on; `kept` is this rank's own.
Status ChunkMaking::make_chunks(Status& kept) {
  auto set = or_out_of_memory([&] {
    return TransferSet::create(puts_.waiting, file_.catalog.datasets(),
                               {.checksums = defined_.options.checksums, .value_ranges = true});
  });
  const auto threads = static_cast<int>(file_.environment.hints.compress_threads);
  std::unique_ptr<ChunkPacker> packer;
  const auto make_packer = [&] {
    packer = std::make_unique<ChunkPacker>(file_.comm(), file_.catalog, puts_.waiting, **set, threads,
                                           [this](int dataset, int64_t chunk, std::span<std::byte> out) {
                                             return defined_.old.fill_chunk(file_.catalog[dataset].spec.path, chunk, out);
                                           });
    return Status();
  };
  const Status ready = set.ok() ? or_out_of_memory(make_packer) : set.status();
  STRIA_RETURN_IF_ERROR(ready.ok() ? packer->pack(puts_.packed) : file_.comm().agree(ready));
  kept = gathering_.keep(**set, puts_.waiting, file_.catalog, file_.accounts.times());
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
  STRIA_RETURN_IF_ERROR(file_.comm().agree(kept.ok() ? counted : kept));
  file_.comm().exclusive_scan(sizes.before);
  file_.comm().all_reduce(sizes.totals, ReduceOp::kSum);
  sizes.pieces = sizes.totals.back();
  return sizes;
}

Status ChunkMaking::place(const Sizes& sizes, access::RequestShape& shape) {
  shape.piece_count += sizes.pieces;
  for (int i = 0; i < file_.catalog.size(); ++i) {
    DatasetEntry& dataset = file_.catalog[i];
    if (dataset.is_packed()) {
      const int64_t total = sizes.totals[static_cast<size_t>(i)];
      STRIA_ASSIGN_OR_RETURN(dataset.data_offset, defined_.places.layout()->place_chunks(dataset.spec, total));
      dataset.stored_bytes = total;
      shape.total_bytes += total;
      put_chunks(i, sizes.before[static_cast<size_t>(i)]);
    }
  }
  return Status();
}

// Takes the rows of a put that are chunks as they are.
void ChunkMaking::take_rows(const ChunkPiece& piece, int64_t chunk_bytes, Transfer& rows) const {
  const Transfer& put = puts_.waiting[static_cast<size_t>(piece.transfer)];
  const int64_t row_bytes = file_.catalog[put.dataset].row_bytes();
  rows.whole_rows = true;
  rows.first_row = put.first_row + piece.stream_begin / row_bytes;
  rows.row_count = piece.bytes / row_bytes;
  rows.stream_begin = piece.stream_begin;
  rows.raw_chunks = {.chunk_bytes = chunk_bytes, .first = piece.first_chunk};
  rows.memory = put.memory;
}

// The packed chunks of a dataset, behind `before` bytes of other ranks, to be moved like
// any other bytes.
void ChunkMaking::put_chunks(int dataset, int64_t before) {
  PackedChunks& packed = puts_.packed.datasets[static_cast<size_t>(dataset)];
  if (packed.size() == 0) {
    return;
  }
  for (SummedChunk& chunk : packed.chunks()) {
    chunk.place.offset += file_.catalog[dataset].data_offset + before;
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
    file_.pending.push_back(std::move(transfer));
    before += piece.bytes;
  }
  gathering_.keep_chunks(dataset, std::move(packed.chunks()));
}

}  // namespace

Status set_chunk_puts_aside(OpenFile& file, bool memory_may_change, ChunkPuts& puts, int64_t& aside_bytes) {
  std::vector<Transfer>& pending = file.pending;
  const auto first = std::stable_partition(
      pending.begin(), pending.end(), [&](const Transfer& transfer) { return !file.catalog[transfer.dataset].is_packed(); });
  // What may fail comes first: a put is pending as it was, or waits.
  puts.waiting.reserve(puts.waiting.size() + static_cast<size_t>(pending.end() - first));
  for (auto transfer = first; memory_may_change && transfer != pending.end(); ++transfer) {
    const ByteRange all{0, transfer->memory.type.size()};
    STRIA_RETURN_IF_ERROR(hold_memory(*transfer, std::span(&all, 1)));
  }
  for (auto transfer = first; transfer != pending.end(); ++transfer) {
    aside_bytes += transfer->region.size();
    puts.waiting.push_back(std::move(*transfer));
  }
  pending.erase(first, pending.end());
  return Status();
}

Result<access::RequestShape> pack_chunks(OpenFile& file, Defined& defined, Gathering& gathering,
                                         const access::RequestShape& shape, ChunkPuts& puts) {
  PhaseTimer timer(file.accounts.times(), Phase::kPack);
  ChunkMaking making(file, defined, gathering, puts);
  Status kept;
  STRIA_RETURN_IF_ERROR(making.make_chunks(kept));
  STRIA_ASSIGN_OR_RETURN(const ChunkMaking::Sizes sizes, making.measure(kept));
  access::RequestShape all = shape;
  const Status placed = or_out_of_memory([&] { return making.place(sizes, all); });
  STRIA_RETURN_IF_ERROR(file.comm().agree(placed));
  return all;
}

}  // namespace stria::file
