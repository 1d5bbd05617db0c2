#include "file/chunks/chunk_parts.hpp"

#include <algorithm>

namespace stria::file {

ChunkParts::ChunkParts(std::span<const Transfer> transfers, const Catalog& catalog)
    : transfers_(transfers), numbers_(catalog), puts_(static_cast<size_t>(catalog.size())) {
  for (size_t i = 0; i < transfers.size(); ++i) {
    const Transfer& transfer = transfers[i];
    puts_[static_cast<size_t>(transfer.dataset)].push_back(
        {static_cast<int>(i), transfer.start[0], 0, Cursor(transfer.region, transfer.displacement)});
  }
  for (std::vector<Put>& puts : puts_) {
    std::stable_sort(puts.begin(), puts.end(), [](const Put& a, const Put& b) { return a.first_row < b.first_row; });
    int64_t reach = 0;
    for (Put& put : puts) {
      const Transfer& transfer = transfers[static_cast<size_t>(put.transfer)];
      reach = std::max(reach, transfer.start[0] + transfer.count[0]);
      put.reach = reach;
    }
  }
}

bool ChunkParts::may_meet(const Transfer& transfer, const container::ChunkGrid& grid, std::span<const int64_t> first) const {
  for (size_t dim = 0; dim < first.size(); ++dim) {
    if (transfer.start[dim] >= first[dim] + grid.chunk_dims()[dim] || transfer.start[dim] + transfer.count[dim] <= first[dim]) {
      return false;
    }
  }
  return true;
}

void ChunkParts::find_in(Put& put, const container::ChunkGrid::Run& run, std::vector<ChunkPart>& parts) const {
  Cursor& cursor = put.cursor;
  const int64_t end = run.begin + run.bytes;
  for (cursor.seek_offset(run.begin); !cursor.done() && cursor.piece().begin < end;) {
    const ByteRange piece = cursor.piece();
    const int64_t bytes = std::min(piece.end, end) - piece.begin;
    const ChunkPart part{put.transfer, cursor.stream_position(), bytes, run.offset + piece.begin - run.begin};
    ChunkPart* const last = parts.empty() ? nullptr : &parts.back();
    if (last != nullptr && last->transfer == part.transfer && last->begin + last->bytes == part.begin &&
        last->offset + last->bytes == part.offset) {
      last->bytes += bytes;
    } else {
      parts.push_back(part);
    }
    cursor.advance(bytes);
  }
}

void ChunkParts::find(const ChunkOfDataset& chunk, std::vector<ChunkPart>& parts) {
  const container::ChunkGrid& of = numbers_.grid(chunk.dataset);
  std::vector<Put>& puts = puts_[static_cast<size_t>(chunk.dataset)];
  const std::vector<int64_t> first = of.first_index(chunk.number);
  const int64_t end_row = first[0] + of.chunk_dims()[0];
  auto put = std::lower_bound(puts.begin(), puts.end(), end_row, [](const Put& a, int64_t row) { return a.first_row < row; });
  meeting_.clear();
  while (put != puts.begin() && (--put)->reach > first[0]) {
    if (may_meet(transfers_[static_cast<size_t>(put->transfer)], of, first)) {
      meeting_.push_back(static_cast<size_t>(put - puts.begin()));
    }
  }
  // The parts come in the order of the runs, and of the puts within each.
  of.for_each_run(chunk.number, [&](const container::ChunkGrid::Run& run) {
    for (auto index = meeting_.rbegin(); index != meeting_.rend(); ++index) {
      find_in(puts[*index], run, parts);
    }
  });
}

}  // namespace stria::file
