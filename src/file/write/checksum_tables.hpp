// The tables in which a new file keeps its checksums: what can be said of them before
// the data move.
#pragma once

#include <vector>

#include "container/container.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/define/definitions.hpp"

namespace stria::file {

/// Gives the sums of rows their tables, and these their places; defines the tables that say
/// which dataset has its sums where. To be called when everything else is defined. The same
/// on every rank.
Result<std::vector<RowTable>> define_checksum_tables(Catalog& catalog, container::Layout& layout, Definitions& definitions);

/// Adds the sums of all small tables to the records of slabs, where these are known whole: on rank
/// 0, without a message.
void add_table_sums(const Catalog& catalog, const Definitions& definitions, std::vector<std::byte>& records);

}  // namespace stria::file
