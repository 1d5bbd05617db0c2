// The tables in which a new file keeps its checksums, as far as they are known before
// the data move.
#pragma once

#include <vector>

#include "container/container.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/define/definitions.hpp"

namespace stria::file {

/// Gives the sums of rows their tables, and the tables their places. Defines the tables that
/// say where each dataset has its sums. To be called when everything else is defined. The same
/// on every rank.
Result<std::vector<RowTable>> define_checksum_tables(Catalog& catalog, container::Layout& layout, Definitions& definitions);

/// Adds the sums of all small tables to the records of slabs. Rank 0 does this, which has the whole
/// tables; no message is sent.
void add_table_sums(const Catalog& catalog, const Definitions& definitions, std::vector<std::byte>& records);

}  // namespace stria::file
