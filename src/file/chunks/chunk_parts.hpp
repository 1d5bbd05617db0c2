// Finds which parts of which chunks this rank has puts for.
//
// Problem: a put is a hyperslab with strides, a chunk a box; neither knows the other.
// Method: each run of a chunk is looked up in the puts that may have some of it, by
// Cursor::seek_offset().
// Cost: O(runs of a chunk x puts that meet it x depth of a put's datatype); a chunk of whole rows
// is one run.
#pragma once

#include <span>
#include <vector>

#include "datatype/cursor.hpp"
#include "file/chunks/chunk_numbers.hpp"
#include "file/define/catalog.hpp"

namespace stria::file {

/// A stretch of a put's packed stream that is a stretch of a chunk.
struct ChunkPart {
  int transfer = 0;
  int64_t begin = 0;  ///< in the stream
  int64_t bytes = 0;
  int64_t offset = 0;  ///< in the chunk
};

class ChunkParts {
 public:
  /// `transfers` are of datasets in chunks. Both must outlive this.
  ChunkParts(std::span<const Transfer> transfers, const Catalog& catalog);

  const ChunkNumbers& numbers() const { return numbers_; }
  /// Returns the chunks that lie in the boxes around this rank's puts.
  ChunkRanges touched() const { return numbers_.touched(transfers_); }
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
  ChunkNumbers numbers_;
  std::vector<std::vector<Put>> puts_;  // the puts of each dataset, by first row
  std::vector<size_t> meeting_;
};

}  // namespace stria::file
