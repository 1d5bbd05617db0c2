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
#include <string>

#include "access/failure/memory_reserve.hpp"
#include "access/plan/planner.hpp"
#include "file/define/definitions.hpp"
#include "file/session/session.hpp"
#include "file/write/metadata/gathering.hpp"
#include "file/write/metadata/places.hpp"

namespace stria::file {

/// Everything here is local.
class RoomForSums {
 public:
  /// What must outlive this.
  struct Means {
    Environment& environment;  ///< gets the warning
    const std::string& path;   ///< as the program gave it
    Catalog& catalog;
    const Places& places;
    Definitions& definitions;
    Gathering& gathering;
    access::MemoryReserve& reserve;
    bool& checksums;  ///< whether the file gets any; not any more when they are given up
  };
  explicit RoomForSums(const Means& means) : means_(means) {}

  /// What the records of sums of this rank's pending puts will take; 0 in other files.
  Result<int64_t> count(std::span<const Transfer> pending) const;
  /// After an agreement on what all ranks have counted, and on the shape of their puts. The first
  /// time, of which `last` says whether it is the only one: places rows behind the room. Later:
  /// gives the sums up where they don't fit. The same everywhere.
  Status keep(int64_t counted_bytes, const access::RequestShape& shape, bool last);

 private:
  bool is_needed() const { return means_.checksums && means_.places.layout()->interleaves(); }
  int64_t room_after_flush(const access::RequestShape& shape) const;
  void give_up_sums();

  Means means_;
  int64_t room_bytes_ = -1;    // where rows follow it; -1: not kept yet
  int64_t records_bytes_ = 0;  // of the room, for all that was put so far
};

}  // namespace stria::file
