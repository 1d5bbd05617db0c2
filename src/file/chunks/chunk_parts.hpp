// Which parts of which chunks this rank has puts for.
//
// Problem: a put is a hyperslab with strides, a chunk a box; neither knows the other.
// Method: each run of a chunk is looked up in the puts that may have some of it, by
// Cursor::seek_offset().
// Cost: O(runs of a chunk x puts that meet it x depth of a put's datatype); a chunk of whole rows
// is one run.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "container/chunks/chunk_grid.hpp"
#include "datatype/cursor.hpp"
#include "file/chunks/chunk_owners.hpp"
#include "file/define/catalog.hpp"
#include "file/move/transfer.hpp"

namespace stria::file {

/// A stretch of a put's packed stream that is a stretch of a chunk.
struct ChunkPart {
  int transfer = 0;
  int64_t begin = 0;  ///< in the stream
  int64_t bytes = 0;
  int64_t offset = 0;  ///< in the chunk
};

/// A chunk of a dataset of the catalog.
struct ChunkOfDataset {
  int dataset = 0;
  int64_t number = 0;
};

class ChunkParts {
 public:
  /// `transfers` are of datasets in chunks. Both must outlive this.
  ChunkParts(std::span<const Transfer> transfers, const Catalog& catalog);

  /// All chunks of the file, which are numbered through its datasets; the same on every rank.
  int64_t chunk_count() const { return chunk_count_; }
  ChunkOfDataset chunk(int64_t chunk_id) const;
  int64_t id_of(const ChunkOfDataset& chunk) const { return first_ids_[static_cast<size_t>(chunk.dataset)] + chunk.number; }
  const container::ChunkGrid& grid(int dataset) const { return *grids_[static_cast<size_t>(dataset)]; }
  /// The chunks that lie in the boxes around this rank's puts.
  ChunkRanges touched() const;
  /// Appends this rank's parts of a chunk.
  void find(const ChunkOfDataset& chunk, std::vector<ChunkPart>& parts);

 private:
  /// A put, with what searching takes.
  struct Put {
    int transfer = 0;
    int64_t first_row = 0;
    int64_t reach = 0;  ///< the end of all rows of this and of those before it
    Cursor cursor;
  };
  void find_in(Put& put, const container::ChunkGrid::Run& run, std::vector<ChunkPart>& parts) const;
  bool may_meet(const Transfer& transfer, const container::ChunkGrid& grid, std::span<const int64_t> first) const;

  std::span<const Transfer> transfers_;
  std::vector<std::optional<container::ChunkGrid>> grids_;  // of each dataset
  std::vector<int64_t> first_ids_;                          // of each dataset
  std::vector<std::vector<Put>> puts_;                      // of each dataset, by first row
  int64_t chunk_count_ = 0;
  std::vector<size_t> meeting_;
};

}  // namespace stria::file
