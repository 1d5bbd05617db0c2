// Gets from datasets in chunks, on one rank.
//
// Problem: variables that lie interleaved in memory share its cache lines. One that is unpacked by
// itself moves all of them, for 8 bytes of each.
// Method: where datasets are cut alike, and the same whole rows of them are wanted, the same chunk
// of all is inflated, and all are unpacked in one pass. A chunk that memory is to have as it is
// goes straight there. Everything else is unpacked run by run; short pieces are first picked out of
// a run together.
// Cost: a batch of chunks, 32 MB at most, or one.
#pragma once

#include <span>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "datatype/cursor.hpp"
#include "file/chunks/chunk_batch.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/move/transfer_set.hpp"
#include "stria/phases.hpp"

namespace stria::file {

class ChunkUnpacker {
 public:
  /// What it works with; it must outlive this. `transfers` are gets of datasets in chunks, and
  /// `set` is made of them.
  struct Means {
    const Catalog& catalog;
    std::span<const Transfer> transfers;
    TransferSet& set;
    ChunkReader& chunks;
    PhaseTimes& times;
    access::AbortSignal* signal;  ///< may be null
  };
  explicit ChunkUnpacker(const Means& means) : means_(means) {}

  Status run();

 private:
  using Group = std::vector<int>;  // transfers of the same rows of datasets that are cut alike

  std::vector<Group> groups() const;
  Status run_group(std::span<const int> group);
  std::span<std::byte> target_of(std::span<const int> group, size_t i, int64_t position);
  Result<int64_t> move_whole_chunk(std::span<const int> group, ByteRange piece, int64_t position);
  Result<int64_t> move_row(int number, const PieceRow& row, int64_t position);
  Result<int64_t> move_run(std::span<const int> group, ByteRange piece, int64_t position);

  const Transfer& transfer(int number) const { return means_.transfers[static_cast<size_t>(number)]; }

  Means means_;
  int64_t chunk_bytes_ = 0;  // of the datasets of a group
  ChunkBatch batch_;
  std::vector<access::StreamPart> parts_;
  std::vector<std::byte> picked_;  // of a run with gaps
};

}  // namespace stria::file
