// The tables in which a file keeps its checksums, as far as they are known before the data move. A
// file that grows keeps its tables of rows, and gets new ones beside them; what says where each
// dataset has its sums is made anew.
#pragma once

#include <vector>

#include "container/container.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/define/definitions.hpp"
#include "file/write/old/old_content.hpp"

namespace stria::file {

/// Gives the sums of rows their tables, and the tables their places. Defines the tables that
/// say where each dataset has its sums. To be called when everything else is defined. The same
/// on every rank.
Result<std::vector<RowTable>> define_checksum_tables(const Definitions::Target& target, const OldContent& old,
                                                     Definitions& definitions);

/// Adds the sums of all small tables to the records of slabs. Rank 0 does this, which has the whole
/// tables; no message is sent.
void add_table_sums(const Catalog& catalog, const Definitions& definitions, std::vector<std::byte>& records);

/// Adds records without a sum, for rows of a table's datasets that may hold something else than
/// their sum tells: those at `places`.
void add_repeated_rows(const RowTable& table, std::span<const ByteRange> places, const Catalog& catalog,
                       std::vector<std::byte>& records);

/// Returns the records of the whole file: those that it had, and the new ones, whose datasets the
/// session has numbered.
Result<std::vector<std::byte>> join_records(const Catalog& catalog, const OldContent& old, size_t table_count,
                                            std::vector<std::byte> records);

}  // namespace stria::file
