// Records: their columns, and NumPy's memory of them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "c/handles.hpp"

namespace stria::python {

using Columns = std::vector<Column>;
/// The memory of records: their bytes, along one dimension more.
using Rows = nanobind::ndarray<nanobind::device::cpu>;
using ConstantRows = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// Calls stria_create_table(); `rows` are whole rows. Errors are Failures here and below.
void create_table(stria_file* file, const std::string& path, const Columns& columns, int64_t row_bytes,
                  const nanobind::bytes& rows);
/// Makes a dataset as stria_create_string_dataset() does.
stria_dataset* create_string_dataset(stria_file* file, const std::string& path, int64_t string_bytes,
                                     const std::vector<int64_t>& dims, const DatasetOptions& options);
/// Does the same as stria_create_records(), with these columns.
stria_dataset* create_records(stria_file* file, const std::string& path, const Columns& columns,
                              const std::vector<int64_t>& dims, const DatasetOptions& options);
/// Returns the columns of a dataset, and the bytes of a record.
std::pair<Columns, int64_t> columns_of(stria_file* file, const std::string& path);
/// Reads the records of a small dataset, laid out as columns_of() says. Collective.
nanobind::bytes read_table(stria_file* file, const std::string& path);
/// Records a put or a get of records with these columns, at least one.
void put_records(stria_dataset* dataset, const stria_slab& slab, const ConstantRows& rows, const Columns& columns, bool copy);
void get_records(stria_dataset* dataset, const stria_slab& slab, const Rows& rows, const Columns& columns);

/// Defines the class Column of the module.
void define_columns(nanobind::module_& module);

}  // namespace stria::python
