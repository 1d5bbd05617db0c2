#include "tables.hpp"

#include <algorithm>
#include <memory>

#include "calls.hpp"

namespace stria::python {

namespace {

std::vector<stria_column> described(const std::vector<TableColumn>& columns) {
  std::vector<stria_column> result;
  for (const auto& [name, offset_bytes, string_bytes, element] : columns) {
    result.push_back({name.c_str(), offset_bytes, string_bytes, element});
  }
  return result;
}

using Read = int(stria_file*, const char*, stria_table**);

TableContent read(Read* call, stria_file* file, const std::string& path) {
  stria_table* table = nullptr;
  released([&] { return call(file, path.c_str(), &table); });
  const std::unique_ptr<stria_table, decltype(&stria_table_free)> owned(table, stria_table_free);
  const stria_records& records = *stria_table_records(table);
  std::vector<TableColumn> columns;
  for (int64_t i = 0; i < records.column_count; ++i) {
    const stria_column& one = records.columns[i];
    columns.emplace_back(one.name, one.offset_bytes, one.string_bytes, one.element);
  }
  const auto bytes = static_cast<size_t>(records.row_count * records.row_bytes);
  return {std::move(columns), records.row_bytes, nanobind::bytes(records.rows, bytes)};
}

}  // namespace

int create_table(stria_file* file, const std::string& path, const std::vector<TableColumn>& columns, int64_t row_bytes,
                 const nanobind::bytes& rows) {
  const std::vector<stria_column> list = described(columns);
  const auto row_count = static_cast<int64_t>(rows.size()) / std::max<int64_t>(row_bytes, 1);
  const stria_records records{list.data(), static_cast<int64_t>(list.size()), row_bytes, row_count, rows.data()};
  return stria_create_table(file, path.c_str(), &records);
}

int create_records(stria_file* file, const std::string& path, const std::vector<TableColumn>& columns,
                   const std::vector<int64_t>& dims, const stria_options* options, stria_dataset** dataset) {
  const std::vector<stria_column> list = described(columns);
  const stria_records records{list.data(), static_cast<int64_t>(list.size()), 0, 0, nullptr};
  return stria_create_records(file, path.c_str(), &records, static_cast<int>(dims.size()), dims.data(), options, dataset);
}

TableContent read_columns(stria_file* file, const std::string& path) {
  return read(stria_read_columns, file, path);
}

TableContent read_table(stria_file* file, const std::string& path) {
  return read(stria_read_table, file, path);
}

}  // namespace stria::python
