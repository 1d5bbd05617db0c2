// The data of gets, as one rank moves them: where they lie, out of chunks, or through libhdf5.
//
// Nothing is kept between two moves but what the arguments hold. Everything here that isn't called
// collective is local.
#pragma once

#include <cstddef>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "access/plan/planner.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/read/content.hpp"
#include "file/read/read_file.hpp"
#include "file/session/open_file.hpp"
#include "file/verify/summed_file.hpp"

namespace stria::file {

/// A file that is read, on this rank.
struct FileToRead {
  OpenFile file;
  ReadFile source{};  ///< this rank reads it by this; on rank 0 it has a reader
  FileSums sums{};
  ChunkReader chunks{};
  /// The catalog is whole; else datasets are looked up one by one, by the reader.
  bool is_whole = true;

  /// Tells whether data are compared with their sums on the way.
  bool checks() const { return sums.index.present && source.verify; }
};

/// Returns the file for an operation that compares data with their sums. \pre it is open
SummedFile summed(FileToRead& reading, access::AbortSignal* signal = nullptr);
/// Loads the sums of chunks, once.
Status load_chunk_sums(FileToRead& reading, access::AbortSignal* signal);

/// Moves the pending gets by one plan. `signal` is null where nobody tells of failures. The outcome
/// is this rank's own. Collective: yes, where the plan goes through aggregators.
Status move_gets(FileToRead& reading, const access::Plan& plan, access::AbortSignal* signal = nullptr);

/// Reads the whole content of a small dataset, which one rank does for all.
Status get_small(FileToRead& reading, int dataset, std::vector<std::byte>& content);

}  // namespace stria::file
