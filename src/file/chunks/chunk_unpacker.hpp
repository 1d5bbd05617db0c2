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

#include "access/failure/abort_signal.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/move/transfer_set.hpp"
#include "stria/phases.hpp"

namespace stria::file {

/// Says what is to be got, and by what.
struct ChunkGets {
  ChunkSource source;
  std::span<const Transfer> transfers;  ///< the transfers of datasets in chunks
  TransferSet& set;                     ///< the set that these are in
  ChunkReader& chunks;
  PhaseTimes& times;
  access::AbortSignal* signal = nullptr;  ///< null: nobody tells of failures
};

/// Reads the chunks and unpacks them. Local.
Status unpack_chunks(const ChunkGets& gets);

}  // namespace stria::file
