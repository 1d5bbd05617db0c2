// Describes what the ranks agree on when a file is opened, and when what is pending is to move.
// Both are values, the same on every rank from then on.
//
// Cost: a meeting each, whose one sum tells everything; a broadcast where the file lies elsewhere
// than its name says.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "access/plan/planner.hpp"
#include "file/define/catalog.hpp"
#include "file/meet/meetings.hpp"
#include "file/move/transfer.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Says what a rank tells the others of its pending transfers, besides their shape.
struct Aside {
  int64_t useful_bytes = 0;  ///< recorded since the last agreement and not pending
  int64_t sum_bytes = 0;     ///< the bytes of the sums of what is pending
};

/// Holds what all ranks know after they have agreed to move what is pending; the same on every
/// rank.
struct Agreed {
  access::RequestShape shape;
  int64_t sum_bytes = 0;     ///< the bytes of the sums of what is pending, on all ranks
  int64_t useful_bytes = 0;  ///< the bytes of all ranks' Aside

  /// Counts what the program has asked for since the last agreement.
  int64_t asked_bytes() const { return shape.total_bytes + useful_bytes; }
};

/// Adds a transfer to the shape of a request. Local.
void add_to(access::RequestShape& shape, const Transfer& transfer);
/// Returns the shape with what the catalog tells of the stretches of the file. Local.
access::RequestShape with_lanes(access::RequestShape shape, const Catalog& catalog);
/// Agrees on what there is to move; an error where a call has failed on any rank, or their logs
/// differ. Collective: yes.
Result<Agreed> agree_on_request(Meetings& meetings, Call call, std::span<const Transfer> pending, bool write,
                                const Aside& aside = {});

/// Holds what this rank knows of a file that is being opened.
struct Opening {
  storage::File* file = nullptr;  ///< rank 0's, where there is one
  int64_t file_bytes = 0;         ///< on rank 0
  const std::string& found_path;  ///< the path as the storage of rank 0 knows it
  const std::string& known_path;  ///< the path that all ranks have
};

/// The file that rank 0 has found or made; the same on every rank.
struct FoundFile {
  storage::Capabilities capabilities;
  storage::Identity identity;  ///< nothing where it isn't known
  int64_t file_bytes = 0;
  std::string path{};  ///< the path as the storage knows it; empty: it is the known one
};

/// Agrees on the beginning, of which `mine` is this rank's outcome so far. Collective: yes.
Result<FoundFile> agree_on_open(Meetings& meetings, Call call, const Status& mine, const Opening& opening);

}  // namespace stria::file
