// One put or get, checked and described.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "file/define/catalog.hpp"
#include "file/move/element_map.hpp"
#include "file/move/records_in_transit.hpp"
#include "stria/datatype.hpp"
#include "stria/file.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// One put or get: a region of a dataset's raw data, and the memory that goes there or
/// comes from there.
struct Transfer {
  int dataset = 0;
  Datatype region;           ///< bytes of the raw data, in file order
  int64_t displacement = 0;  ///< the displacement of the region, from the beginning of the raw data
  /// The region is all of the rows below; otherwise these are the rows that it touches
  /// or steps over.
  bool whole_rows = false;
  int64_t first_row = 0;
  int64_t row_count = 0;
  std::vector<int64_t> start, count;  ///< the box around the hyperslab
  Hyperslab slab{};                   ///< the region, where the dataset has an unlimited dimension
  bool has_gaps = false;              ///< there is more in the box
  /// Chunks as the file is to have them. `memory` has them in one piece; their elements have been
  /// looked at before.
  bool stored = false;
  /// Chunks that are stored as they are: whole rows of a put, from `stream_begin` of its packed
  /// stream on.
  struct RawChunks {
    int64_t chunk_bytes = 0;  ///< the bytes of each chunk; 0: it is no such transfer
    size_t first = 0;         ///< among the rank's chunks of the dataset
  };
  RawChunks raw_chunks{};
  int64_t stream_begin = 0;
  std::vector<std::byte> kept;                  ///< data that the session itself holds
  std::optional<uint64_t> sample;               ///< a put's memory at the call, if it may change
  std::shared_ptr<RecordsInTransit> records{};  ///< the owner of `memory`, where records change
  Memory memory{nullptr, Datatype(), ElementType::kByte};
};

/// Checks a hyperslab and memory against a dataset and describes the region. kInvalidArgument names
/// dataset and dimension.
Result<Transfer> make_transfer(int index, const DatasetEntry& dataset, const Hyperslab& slab, const Memory& memory);

/// Makes a transfer of scattered elements, of which the memory has one number each.
Result<Transfer> make_transfer(int index, const DatasetEntry& dataset, const ElementMap& elements, const Memory& memory);

/// Copies these ranges of the stream that memory has in its own type to `to`, one behind the other.
Status pack_memory(const Memory& memory, std::span<const ByteRange> order, std::byte* to);
/// Has a transfer of records move them in the file's form, where memory has another one. Errors
/// name dataset and column.
Status carry_records(const DatasetEntry& dataset, bool put, Transfer& transfer);

/// Has a put keep a copy of its memory, in the memory's own type: these ranges of the stream that
/// it has there, one behind the other.
Status hold_memory(Transfer& put, std::span<const ByteRange> order);

}  // namespace stria::file
