// Small datasets of records, as the package has them: columns, and bytes.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "stria.h"

namespace stria::python {

/// Name, place in a row, bytes of a string (0: a number), enum stria_element.
using TableColumn = std::tuple<std::string, int64_t, int64_t, int>;
/// Columns, bytes of a row, rows.
using TableContent = std::tuple<std::vector<TableColumn>, int64_t, nanobind::bytes>;

/// As stria_create_table(); `rows` are whole rows.
int create_table(stria_file* file, const std::string& path, const std::vector<TableColumn>& columns, int64_t row_bytes,
                 const nanobind::bytes& rows);
/// As stria_create_records(), with these columns.
int create_records(stria_file* file, const std::string& path, const std::vector<TableColumn>& columns,
                   const std::vector<int64_t>& dims, const stria_options* options, stria_dataset** dataset);
/// The columns of stria_read_columns(), without rows. Throws Failure.
TableContent read_columns(stria_file* file, const std::string& path);
/// What stria_read_table() reads. Throws Failure.
TableContent read_table(stria_file* file, const std::string& path);

}  // namespace stria::python
