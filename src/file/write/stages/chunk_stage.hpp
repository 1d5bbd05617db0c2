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
#include <vector>

#include "access/plan/planner.hpp"
#include "file/chunks/packed_chunks.hpp"
#include "file/move/transfer.hpp"
#include "file/session/open_file.hpp"
#include "file/write/metadata/defined.hpp"
#include "file/write/metadata/gathering.hpp"

namespace stria::file {

/// The puts of datasets that get new chunks.
struct ChunkPuts {
  std::vector<Transfer> waiting;  ///< for the commit, and chunks that are stored as they are
  PackedFile packed;

  /// Gives back the memory, when the chunks are written.
  void release() {
    packed = {};
    waiting.clear();
  }
};

/// Takes such puts out of those that are pending, with a copy of their memory if that may change
/// before the commit, and adds their bytes to `aside_bytes`. Local.
Status set_chunk_puts_aside(OpenFile& file, bool memory_may_change, ChunkPuts& puts, int64_t& aside_bytes);

/// Makes chunks of them, which are pending in place of the puts; the catalog learns where each
/// dataset's lie. Returns the shape with what they add. Collective: yes, the error is agreed on.
Result<access::RequestShape> pack_chunks(OpenFile& file, Defined& defined, Gathering& gathering,
                                         const access::RequestShape& shape, ChunkPuts& puts);

}  // namespace stria::file
