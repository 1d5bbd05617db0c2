// Puts of datasets in chunks, from the call of put() to the packed chunks that are written.
//
// Problem: a chunk can be made only when all that it will hold is known. Its size and place are
// known only when it is made.
// Method: such puts are set aside until the commit, with a copy of their memory where a flush
// promises that it may change. Then the ranks make chunks of them, and one sum and one scan tell
// each rank where its chunks lie. The packed chunks become pending puts like any other; rows that
// are chunks as they are stay in the memory of their put until then.
// Cost: the memory of the packed chunks until the file has ended; a scan, a sum and three
// agreements, in files with chunks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access/plan/planner.hpp"
#include "comm/comm.hpp"
#include "file/chunks/packed_chunks.hpp"
#include "file/define/catalog.hpp"
#include "file/move/transfer.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/metadata/places.hpp"
#include "file/write/old/old_file.hpp"
#include "stria/phases.hpp"

namespace stria::file {

class ChunkStage {
 public:
  /// What must outlive this.
  struct Means {
    Comm& comm;
    Catalog& catalog;
    const Places& places;
    Gathering& gathering;
    OldFile& old;
    PhaseTimes& times;
  };
  struct How {
    bool checksums = false;
    int threads = 1;  ///< that pass chunks through filters
  };
  explicit ChunkStage(const Means& means) : means_(means) {}

  /// Whether any dataset gets new chunks. The same on every rank.
  bool any() const;
  /// Takes the puts of such datasets out of those that are `pending`, and adds their bytes to
  /// `aside_bytes`; with a copy of their memory if that may change before the commit. Local.
  Status set_aside(std::vector<Transfer>& pending, bool memory_may_change, int64_t& aside_bytes);
  /// Makes chunks of them, which are pending in their place. Returns the shape with what they add.
  /// Collective: yes, the error is agreed on.
  Result<access::RequestShape> pack(const How& how, const access::RequestShape& shape, std::vector<Transfer>& pending);
  /// Gives back the memory of the chunks, when they are written.
  void release() {
    packed_ = {};
    waiting_.clear();
  }

 private:
  /// Where chunks lie: of each dataset, the bytes of the ranks before this one and those of all
  /// ranks; and the pieces of all.
  struct Sizes {
    std::vector<int64_t> before;
    std::vector<int64_t> totals;
    int64_t pieces = 0;
  };
  Status make_chunks(const How& how, Status& kept);
  Result<Sizes> measure(const Status& kept);
  Status place(const Sizes& sizes, access::RequestShape& shape, std::vector<Transfer>& pending);
  void take_rows(const ChunkPiece& piece, int64_t chunk_bytes, Transfer& rows) const;
  void put_chunks(int dataset, int64_t before, std::vector<Transfer>& pending);

  Means means_;
  std::vector<Transfer> waiting_;  // for the commit, and chunks of them that are stored as they are
  PackedFile packed_;
};

}  // namespace stria::file
