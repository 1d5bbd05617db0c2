// The part of a commit that makes chunks of puts, before anything is moved.
#include <algorithm>

#include "file/chunks/chunk_packer.hpp"
#include "file/write/write_session.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::file {

namespace {

// A copy of what a put has in memory, in the memory's own type.
Status hold_memory(Transfer& transfer) {
  const ElementType element = transfer.memory.element;
  const int64_t bytes = transfer.memory.type.size();
  STRIA_ASSIGN_OR_RETURN(const Packer packer, Packer::create({{.memory = static_cast<std::byte*>(transfer.memory.data),
                                                               .type = transfer.memory.type,
                                                               .memory_element = element,
                                                               .stored_element = element}}));
  transfer.kept.resize(static_cast<size_t>(bytes));
  const PackPart part{0, 0, bytes, transfer.kept.data()};
  packer.pack(std::span(&part, 1));
  transfer.memory = Memory(transfer.kept.data(), Datatype::bytes(bytes), element);
  return Status();
}

}  // namespace

bool WriteSession::has_chunks() const {
  const auto datasets = catalog_.datasets();
  return std::any_of(datasets.begin(), datasets.end(), [](const DatasetEntry& dataset) { return dataset.is_chunked(); });
}

Status WriteSession::set_chunked_aside(bool memory_may_change) {
  const auto first = std::stable_partition(pending_.begin(), pending_.end(),
                                           [&](const Transfer& transfer) { return !catalog_[transfer.dataset].is_chunked(); });
  for (auto transfer = first; transfer != pending_.end(); ++transfer) {
    aside_bytes_ += transfer->region.size();
    if (memory_may_change) {
      STRIA_RETURN_IF_ERROR(hold_memory(*transfer));
    }
    chunked_.push_back(std::move(*transfer));
  }
  pending_.erase(first, pending_.end());
  return Status();
}

Result<access::RequestShape> WriteSession::pack_chunks(const access::RequestShape& shape) {
  PhaseTimer timer(report_.phases, Phase::kPack);
  auto set = or_out_of_memory([&] {
    return TransferSet::create(chunked_, catalog_.datasets(), {.checksums = options_.checksums, .value_ranges = true});
  });
  std::unique_ptr<ChunkPacker> packer;
  const Status ready = set.ok() ? or_out_of_memory([&] {
    packer = std::make_unique<ChunkPacker>(
        comm(), catalog_, chunked_, **set, static_cast<int>(environment_.hints.compress_threads),
        [this](int dataset, int64_t chunk, std::span<std::byte> out) { return fill_with_old(dataset, chunk, out); });
    return Status();
  })
                                : set.status();
  STRIA_RETURN_IF_ERROR(ready.ok() ? packer->pack(packed_) : comm().agree(ready));
  // Of each dataset: the bytes of the ranks before this one, and those of all ranks, and
  // last the pieces.
  std::vector<int64_t> before, totals;
  const Status kept = gathering_.keep(**set, chunked_);
  const Status counted = or_out_of_memory([&] {
    int64_t pieces = 0;
    for (const PackedChunks& packed : packed_.datasets) {
      before.push_back(packed.size());
      pieces += packed.size() > 0 ? 1 : 0;
    }
    totals = before;
    totals.push_back(pieces);
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm().agree(kept.ok() ? counted : kept));
  comm().exclusive_scan(before);
  comm().all_reduce(totals, ReduceOp::kSum);
  access::RequestShape all = shape;
  all.piece_count += totals.back();
  const Status placed = or_out_of_memory([&]() -> Status {
    for (int i = 0; i < catalog_.size(); ++i) {
      if (catalog_[i].is_chunked()) {
        const int64_t total = totals[static_cast<size_t>(i)];
        STRIA_ASSIGN_OR_RETURN(catalog_[i].data_offset, layout_->place_chunks(catalog_[i].spec, total));
        catalog_[i].stored_bytes = total;
        all.total_bytes += total;
        put_chunks(i, before[static_cast<size_t>(i)]);
      }
    }
    return Status();
  });
  STRIA_RETURN_IF_ERROR(comm().agree(placed));
  chunked_.clear();
  return all;
}

// The packed chunks of a dataset, behind `before` bytes of other ranks, to be moved like
// any other bytes.
void WriteSession::put_chunks(int dataset, int64_t before) {
  PackedChunks& packed = packed_.datasets[static_cast<size_t>(dataset)];
  if (packed.size() == 0) {
    return;
  }
  for (SummedChunk& chunk : packed.chunks()) {
    chunk.place.offset += catalog_[dataset].data_offset + before;
  }
  for (const std::span<std::byte> piece : packed.pieces()) {
    Transfer transfer;
    transfer.dataset = dataset;
    transfer.region = Datatype::bytes(static_cast<int64_t>(piece.size()));
    transfer.displacement = before;
    transfer.stored = true;
    transfer.memory = Memory(piece.data(), transfer.region, ElementType::kByte);
    pending_.push_back(std::move(transfer));
    before += static_cast<int64_t>(piece.size());
  }
  gathering_.keep_chunks(dataset, std::move(packed.chunks()));
}

}  // namespace stria::file
