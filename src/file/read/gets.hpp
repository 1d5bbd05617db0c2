// The data of gets, as one rank moves them: where they lie, out of chunks, or through libhdf5.
//
// Nothing is kept between two moves but what the arguments hold. Everything here that isn't called
// collective is local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "access/failure/abort_signal.hpp"
#include "access/plan/planner.hpp"
#include "file/chunks/chunk_reader.hpp"
#include "file/define/catalog.hpp"
#include "file/meet/meetings.hpp"
#include "file/move/transfer.hpp"
#include "file/read/content.hpp"
#include "file/read/read_file.hpp"
#include "file/session/accounts.hpp"
#include "file/verify/summed_file.hpp"

namespace stria::file {

/// Says what gets are read from.
struct ReadFrom {
  ReadBy by;
  ReadFile& file;
  const Catalog& catalog;
  FileSums& sums;
  ChunkReader& chunks;

  /// Tells whether data are compared with their sums on the way.
  bool checks() const { return sums.index.present && by.verify; }
};

/// Returns the file for an operation that compares data with their sums. \pre from.file is open
SummedFile summed(const ReadFrom& from, access::AbortSignal* signal = nullptr);
/// Loads the sums of chunks, once.
Status load_chunk_sums(const ReadFrom& from, access::AbortSignal* signal);

/// Gets that move by one plan.
struct Gets {
  std::span<const Transfer> pending;
  const access::Plan& plan;
  const std::function<void(const Progress&)>& progress;
  access::AbortSignal* signal = nullptr;  ///< null: nobody tells of failures
};

/// Moves the gets. The outcome is this rank's own. Collective: yes, where the plan goes through
/// aggregators.
Status move_gets(const Gets& gets, const ReadFrom& from, Meetings& meetings, Accounts& accounts);

/// Reads the whole content of a small dataset, which one rank does for all.
Status get_small(const ReadFrom& from, int dataset, std::vector<std::byte>& content);

}  // namespace stria::file
