// Columns of records, as programs describe them, and the types that the container has for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "container/spec.hpp"
#include "stria/memory.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Says how records are made of columns.
struct RecordForm {
  /// The columns follow each other, and so do the members of each; otherwise each has its place.
  bool is_packed = false;
  bool is_of_file = false;          ///< numbers have the byte order of the file, else the machine's
  bool has_filled_strings = false;  ///< strings end with blanks
};

/// Returns the type of records of these columns, of `row_bytes` where they have places.
/// kInvalidArgument names a column that is none, or lies outside of its record; kUnsupported:
/// nested too deep.
Result<container::ElementSpec> record_of(std::span<const Column> columns, int64_t row_bytes, const RecordForm& form);

/// Returns the bytes of memory that such records have, in the order in which record_of() packs
/// them.
Result<Datatype> memory_of(std::span<const Column> columns, int64_t row_bytes);

/// Returns the columns of records of a file. kUnsupported names one that can't be read, `what` has
/// it.
Result<std::vector<Column>> columns_of(const container::ElementSpec& record, const std::string& what);

/// Does the same as columns_of(), for a dataset. kInvalidArgument when it doesn't hold records.
Result<std::vector<Column>> list_columns(const container::DatasetSpec& spec);

}  // namespace stria::file
