#include "tables.hpp"

#include <algorithm>
#include <memory>

namespace stria::python {

int create_table(stria_file* file, const std::string& path, const std::vector<TableColumn>& columns, int64_t row_bytes,
                 const nanobind::bytes& rows) {
  std::vector<stria_column> described;
  for (const auto& [name, offset_bytes, string_bytes, element] : columns) {
    described.push_back({name.c_str(), offset_bytes, string_bytes, element});
  }
  const auto row_count = static_cast<int64_t>(rows.size()) / std::max<int64_t>(row_bytes, 1);
  const stria_records records{described.data(), static_cast<int64_t>(described.size()), row_bytes, row_count, rows.data()};
  return stria_create_table(file, path.c_str(), &records);
}

int read_table(stria_file* file, const std::string& path, TableContent* content) {
  stria_table* table = nullptr;
  const int code = stria_read_table(file, path.c_str(), &table);
  if (code != STRIA_OK) {
    return code;
  }
  const std::unique_ptr<stria_table, decltype(&stria_table_free)> owned(table, stria_table_free);
  const stria_records& records = *stria_table_records(table);
  std::vector<TableColumn> columns;
  for (int64_t i = 0; i < records.column_count; ++i) {
    const stria_column& one = records.columns[i];
    columns.emplace_back(one.name, one.offset_bytes, one.string_bytes, one.element);
  }
  const auto bytes = static_cast<size_t>(records.row_count * records.row_bytes);
  *content = {std::move(columns), records.row_bytes, nanobind::bytes(records.rows, bytes)};
  return STRIA_OK;
}

}  // namespace stria::python
