#include "file/chunks/chunk_numbers.hpp"

#include <algorithm>

#include "base/check.hpp"

namespace stria::file {

ChunkNumbers::ChunkNumbers(const Catalog& catalog) {
  for (const DatasetEntry& dataset : catalog.datasets()) {
    first_ids_.push_back(count_);
    grids_.emplace_back();
    if (dataset.is_packed()) {
      grids_.back().emplace(dataset.spec);
      count_ += grids_.back()->chunk_count();
    }
  }
}

ChunkOfDataset ChunkNumbers::chunk(int64_t id) const {
  STRIA_ASSERT(id >= 0 && id < count_, id, count_);
  // The last dataset that begins there: those before it may have no chunks.
  const auto next = std::upper_bound(first_ids_.begin(), first_ids_.end(), id);
  const auto dataset = static_cast<int>(next - first_ids_.begin()) - 1;
  return {dataset, id - first_ids_[static_cast<size_t>(dataset)]};
}

ChunkRanges ChunkNumbers::touched(std::span<const Transfer> transfers) const {
  ChunkRanges ranges;
  for (const Transfer& transfer : transfers) {
    if (!has_chunks(transfer.dataset)) {
      continue;
    }
    const container::ChunkGrid& of = grid(transfer.dataset);
    const size_t rank = transfer.start.size();
    std::vector<int64_t> first, last;
    for (size_t dim = 0; dim < rank; ++dim) {
      first.push_back(transfer.start[dim] / of.chunk_dims()[dim]);
      last.push_back((transfer.start[dim] + transfer.count[dim] - 1) / of.chunk_dims()[dim]);
    }
    std::vector<int64_t> at = first;
    for (bool more = true; more;) {
      int64_t number = first_ids_[static_cast<size_t>(transfer.dataset)];
      int64_t within = 0;
      for (size_t dim = 0; dim < rank; ++dim) {
        within = within * of.chunks_along(dim) + at[dim];
      }
      number += within;
      ranges.push_back({number, number + last[rank - 1] - first[rank - 1] + 1});
      size_t dim = rank - 1;
      while (dim > 0 && ++at[dim - 1] > last[dim - 1]) {
        at[dim - 1] = first[dim - 1];
        --dim;
      }
      more = dim > 0;
    }
  }
  tidy(ranges);
  return ranges;
}

}  // namespace stria::file
