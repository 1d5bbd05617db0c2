// What a session knows of the datasets of its file, the same on every rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/byte_range.hpp"
#include "container/container.hpp"
#include "stria/datatype.hpp"
#include "stria/element_type.hpp"
#include "stria/file.hpp"

namespace stria::file {

struct DatasetEntry {
  container::DatasetSpec spec;
  int64_t data_offset = -1;  ///< of the raw data; -1: none yet, or only libhdf5 can read it
  bool value_range = false;
  int checksum_group = -1;  ///< rows are summed: which table, and which column of it; -1: by slabs
  int checksum_column = 0;

  ElementType stored_element() const { return spec.element.number; }
  int64_t row_count() const { return spec.dims.empty() ? 1 : spec.dims[0]; }
  int64_t row_bytes() const;  ///< of one index of the first dimension
  int64_t data_bytes() const { return row_count() * row_bytes(); }
  ByteRange extent() const { return {data_offset, data_offset + data_bytes()}; }
};

/// One put or get: a region of a dataset's raw data and the memory that goes there or comes from there.
struct Transfer {
  int dataset = 0;
  Datatype region;           ///< bytes of the raw data, in file order
  int64_t displacement = 0;  ///< of the region, from the beginning of the raw data
  bool whole_rows = false;   ///< the region is all of the rows below, else they are those that it touches or steps over
  int64_t first_row = 0;
  int64_t row_count = 0;
  std::vector<int64_t> start, count;  ///< the hyperslab where it is without strides, else empty
  std::vector<std::byte> kept;        ///< small data that the session itself holds
  Memory memory{nullptr, Datatype(), ElementType::kByte};
};

/// Checks a hyperslab and memory against a dataset and describes the region. kInvalidArgument names dataset and dimension.
Result<Transfer> make_transfer(int index, const DatasetEntry& dataset, const Hyperslab& slab, const Memory& memory);

/// The size in bytes of a dataset with these dims and this element, all checked. kInvalidArgument on negative dims or overflow.
Result<int64_t> dataset_bytes(const container::DatasetSpec& spec);

}  // namespace stria::file
