// Room for sums in a file whose rows lie among each other behind everything else: netCDF with an
// unlimited dimension.
//
// Problem: all tables lie before such rows. That of the puts of parts of a row has a record for
// each, so that nobody knows its size before the last put.
// Method: rows that are put whole have their sums in tables of rows, whose size is known. The ranks
// add up what the records of their pending puts will take, in the sum by which they agree anyway.
// At a commit this is all. At a first flush, there is room for as many more as the rest of the data
// will make if it is put likewise. Where more come than fit, all ranks give the sums up, before
// anything is moved, and say so.
// Cost: 8 bytes in a message; after a flush, room of an eighth of the data at most.
#pragma once

#include <cstdint>
#include <span>

#include "container/container.hpp"
#include "file/define/catalog.hpp"
#include "file/define/definitions.hpp"
#include "file/move/transfer.hpp"

namespace stria::file {

/// Returns what the records of sums of this rank's pending puts will take. With `definitions`,
/// those of its tables too, which rank 0 sums.
Result<int64_t> count_sum_records(const Catalog& catalog, std::span<const Transfer> pending, const Definitions* definitions);

/// The room of a file, and the places of rows behind it. Everything here is local, and the same on
/// every rank.
class RoomForSums {
 public:
  /// Says what is known of the file at an agreement.
  struct Known {
    int64_t record_bytes = 0;  ///< bytes that all ranks have counted since the one before
    int64_t put_bytes = 0;     ///< by all of them
    int ranks = 1;
    bool last = false;  ///< nothing will be put any more
  };

  /// Tells whether the room is there, behind which rows have their places.
  bool is_kept() const { return room_bytes_ >= 0; }
  /// Takes in what is known. The first time this keeps the room, with `seal_bytes` for the seal,
  /// and gives rows their places behind it. False when the sums don't fit in the room that was
  /// kept.
  Result<bool> keep(container::Layout& layout, Catalog& catalog, const Known& known, int64_t seal_bytes);

 private:
  int64_t room_after_flush(const Catalog& catalog, const Known& known) const;

  int64_t room_bytes_ = -1;    // where rows follow it; -1: not kept yet
  int64_t records_bytes_ = 0;  // the bytes of the room, for all that was put so far
};

}  // namespace stria::file
