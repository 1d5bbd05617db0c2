#include "file/write/stages/chunk_stage.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "file/chunks/chunk_packer.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// Makes the chunks, and returns the set of their puts. Collective: yes, the error is agreed on.
Result<std::unique_ptr<TransferSet>> make_chunks(OpenFile& file, Defined& defined, ChunkPuts& puts) {
  auto set = or_out_of_memory([&] {
    return TransferSet::create(puts.waiting, file.catalog.datasets(),
                               {.checksums = defined.options.checksums, .value_ranges = true});
  });
  const auto threads = static_cast<int>(file.environment.hints.compress_threads);
  std::unique_ptr<ChunkPacker> packer;
  const auto make_packer = [&] {
    const PutsOfChunks waiting{.catalog = file.catalog, .transfers = puts.waiting, .set = **set};
    packer = std::make_unique<ChunkPacker>(file.comm(), waiting, threads,
                                           [&file, &defined](int dataset, int64_t chunk, std::span<std::byte> out) {
                                             return defined.old.fill_chunk(file.catalog[dataset].spec.path, chunk, out);
                                           });
    return Status();
  };
  const Status ready = set.ok() ? or_out_of_memory(make_packer) : set.status();
  STRIA_RETURN_IF_ERROR(ready.ok() ? packer->pack(puts.packed) : file.comm().agree(ready));
  return set;
}

// Says where chunks lie: of each dataset, the bytes of the ranks before this one and those of all
// ranks; and the pieces of all.
struct ChunkSizes {
  std::vector<int64_t> before;
  std::vector<int64_t> totals;
  int64_t pieces = 0;
};

// `kept` is what has become of this rank's chunks so far. Collective: yes, the error is agreed on.
Result<ChunkSizes> measure_chunks(Comm& comm, const PackedFile& file, const Status& kept) {
  ChunkSizes sizes;
  const Status counted = or_out_of_memory([&] {
    for (const PackedChunks& packed : file.datasets) {
      sizes.before.push_back(packed.size());
      sizes.pieces += packed.size() > 0 ? 1 : 0;
    }
    sizes.totals = sizes.before;
    sizes.totals.push_back(sizes.pieces);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm.agree(kept.ok() ? counted : kept));
  comm.exclusive_scan(sizes.before);
  comm.all_reduce(sizes.totals, ReduceOp::kSum);
  sizes.pieces = sizes.totals.back();
  return sizes;
}

// Takes the rows of a put that are chunks as they are.
void take_rows(const Transfer& put, const ChunkPiece& piece, int64_t row_bytes, int64_t chunk_bytes, Transfer& rows) {
  rows.whole_rows = true;
  rows.first_row = put.first_row + piece.stream_begin / row_bytes;
  rows.row_count = piece.bytes / row_bytes;
  rows.stream_begin = piece.stream_begin;
  rows.raw_chunks = {.chunk_bytes = chunk_bytes, .first = piece.first_chunk};
  rows.memory = put.memory;
}

// Puts the packed chunks of a dataset to their places, behind `before` bytes of other ranks, to be
// moved like any other bytes.
void put_chunks(OpenFile& file, ChunkPuts& puts, int dataset, int64_t before) {
  const DatasetEntry& entry = file.catalog[dataset];
  PackedChunks& packed = puts.packed.datasets[static_cast<size_t>(dataset)];
  const int64_t end = before + packed.size();
  STRIA_CHECK(entry.data_offset >= 0 && end <= entry.stored_bytes, entry.data_offset, end, entry.stored_bytes);
  for (SummedChunk& chunk : packed.chunks()) {
    chunk.place.offset += entry.data_offset + before;
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
      take_rows(puts.waiting[static_cast<size_t>(piece.transfer)], piece, entry.row_bytes(),
                packed.chunks()[piece.first_chunk].place.bytes, transfer);
    }
    file.pending.push_back(std::move(transfer));
    before += piece.bytes;
  }
  STRIA_CHECK(before == end, before, end);  // the next rank's chunks begin there
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
  STRIA_ASSIGN_OR_RETURN(const auto set, make_chunks(file, defined, puts));
  const Status kept = gathering.keep(*set, puts.waiting, file.catalog, file.accounts.times());
  STRIA_ASSIGN_OR_RETURN(const ChunkSizes sizes, measure_chunks(file.comm(), puts.packed, kept));
  access::RequestShape all = shape;
  all.piece_count += sizes.pieces;
  const Status placed = or_out_of_memory([&]() -> Status {
    for (int i = 0; i < file.catalog.size(); ++i) {
      DatasetEntry& dataset = file.catalog[i];
      if (!dataset.is_packed()) {
        continue;
      }
      const auto number = static_cast<size_t>(i);
      STRIA_ASSIGN_OR_RETURN(dataset.data_offset, defined.places.layout()->place_chunks(dataset.spec, sizes.totals[number]));
      dataset.stored_bytes = sizes.totals[number];
      all.total_bytes += sizes.totals[number];
      if (PackedChunks& packed = puts.packed.datasets[number]; packed.size() > 0) {
        put_chunks(file, puts, i, sizes.before[number]);
        gathering.keep_chunks(i, std::move(packed.chunks()));
      }
    }
    return Status();
  });
  STRIA_RETURN_IF_ERROR(file.comm().agree(placed));
  return all;
}

}  // namespace stria::file
