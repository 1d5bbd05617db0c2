// The chunks of a file, numbered through its datasets.
//
// Invariant: the numbers follow from the catalog alone, so that every rank has the same.
// Cost: a grid for each dataset in chunks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "container/chunks/chunk_grid.hpp"
#include "file/chunks/chunk_owners.hpp"
#include "file/define/catalog.hpp"
#include "file/move/transfer.hpp"

namespace stria::file {

/// A chunk of a dataset of the catalog.
struct ChunkOfDataset {
  int dataset = 0;
  int64_t number = 0;
};

class ChunkNumbers {
 public:
  explicit ChunkNumbers(const Catalog& catalog);

  int64_t count() const { return count_; }
  ChunkOfDataset chunk(int64_t id) const;
  int64_t id_of(const ChunkOfDataset& chunk) const {
    STRIA_ASSERT(chunk.number >= 0 && chunk.number < grid(chunk.dataset).chunk_count(), chunk.dataset, chunk.number);
    return first_ids_[static_cast<size_t>(chunk.dataset)] + chunk.number;
  }
  bool has_chunks(int dataset) const { return grids_[static_cast<size_t>(dataset)].has_value(); }
  /// \pre has_chunks(dataset)
  const container::ChunkGrid& grid(int dataset) const {
    STRIA_ASSERT(has_chunks(dataset), dataset);
    return *grids_[static_cast<size_t>(dataset)];
  }
  /// Returns the chunks that lie in the boxes around these transfers; those of other datasets have
  /// none.
  ChunkRanges touched(std::span<const Transfer> transfers) const;

 private:
  std::vector<std::optional<container::ChunkGrid>> grids_;  // the grids of each dataset
  std::vector<int64_t> first_ids_;                          // the ids of each dataset
  int64_t count_ = 0;
};

}  // namespace stria::file
