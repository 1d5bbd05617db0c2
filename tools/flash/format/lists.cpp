#include "format/lists.hpp"

#include <algorithm>
#include <cstring>

namespace stria::flash {

namespace {

constexpr int64_t kStringBytes = 80;
constexpr int64_t kLongStringBytes = 400;

// Says where name and value lie in a row, in the order of the members in FLASH's own memory.
struct RowLayout {
  int64_t name_at = 0;
  int64_t value_at = kStringBytes;
  int64_t row_bytes = 0;
};
constexpr RowLayout kIntegerRow = {0, kStringBytes, kStringBytes + 4};
constexpr RowLayout kRealRow = {0, kStringBytes, kStringBytes + 8};
constexpr RowLayout kStringRow = {kStringBytes, 0, 2 * kStringBytes};
constexpr RowLayout kLogicalRow = {4, 0, kStringBytes + 4};

void put_text(std::byte* at, int64_t width, const std::string& text) {
  std::memset(at, ' ', static_cast<size_t>(width));
  std::memcpy(at, text.data(), std::min(text.size(), static_cast<size_t>(width)));
}

std::string get_text(const std::byte* at, int64_t width) {
  std::string text(reinterpret_cast<const char*>(at), static_cast<size_t>(width));
  return text.substr(0, text.find_last_not_of(std::string(" \0", 2)) + 1);
}

void store(std::byte* at, int64_t value) {
  auto narrow = static_cast<int32_t>(value);
  std::memcpy(at, &narrow, sizeof narrow);
}
void store(std::byte* at, double value) {
  std::memcpy(at, &value, sizeof value);
}
void store(std::byte* at, const std::string& value) {
  put_text(at, kStringBytes, value);
}

template <typename Value>
void put_list(File& file, const std::string& path, const std::vector<std::pair<std::string, Value>>& list,
              const RowLayout& layout, Column value_column) {
  if (list.empty()) {
    return;
  }
  std::vector<std::byte> rows(list.size() * static_cast<size_t>(layout.row_bytes));
  std::byte* row = rows.data();
  for (const auto& [name, value] : list) {
    put_text(row + layout.name_at, kStringBytes, name);
    store(row + layout.value_at, value);
    row += layout.row_bytes;
  }
  value_column.name = "value";
  value_column.offset_bytes = layout.value_at;
  Column name_column{"name", layout.name_at, ElementType::kByte, kStringBytes};
  std::vector<Column> columns = layout.name_at < layout.value_at ? std::vector<Column>{name_column, value_column}
                                                                 : std::vector<Column>{value_column, name_column};
  file.create_table(path, columns, layout.row_bytes, static_cast<int64_t>(list.size()), rows.data());
}

const Column* column_named(const std::vector<Column>& columns, const std::string& name) {
  auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

void load(const std::byte* at, const Column& column, int64_t& value) {
  if (column.number == ElementType::kInt64) {
    std::memcpy(&value, at, sizeof value);
  } else {
    int32_t narrow = 0;
    std::memcpy(&narrow, at, sizeof narrow);
    value = narrow;
  }
}
void load(const std::byte* at, const Column&, double& value) {
  std::memcpy(&value, at, sizeof value);
}
void load(const std::byte* at, const Column& column, std::string& value) {
  value = get_text(at, column.string_bytes);
}

bool fits(const Column& column, const int64_t&) {
  return column.number == ElementType::kInt32 || column.number == ElementType::kInt64;
}
bool fits(const Column& column, const double&) {
  return column.number == ElementType::kFloat64;
}
bool fits(const Column& column, const std::string&) {
  return column.string_bytes > 0;
}

template <typename Value>
void get_list(File& file, const std::string& path, std::vector<std::pair<std::string, Value>>& list) {
  if (!file.has_dataset(path)) {
    return;
  }
  std::vector<Column> columns;
  int64_t row_bytes = 0;
  std::vector<std::byte> rows = file.read_table(path, &columns, &row_bytes);
  const Column* name = column_named(columns, "name");
  const Column* value = column_named(columns, "value");
  Value loaded{};
  if (name == nullptr || value == nullptr || name->string_bytes == 0 || !fits(*value, loaded)) {
    throw Error(ErrorCode::kFormat, "'" + path + "' is not a list of names and values");
  }
  for (size_t at = 0; at + static_cast<size_t>(row_bytes) <= rows.size(); at += static_cast<size_t>(row_bytes)) {
    load(rows.data() + at + value->offset_bytes, *value, loaded);
    list.emplace_back(get_text(rows.data() + at + name->offset_bytes, name->string_bytes), loaded);
  }
}

}  // namespace

void put_lists(File& file, const ScalarLists& lists) {
  Column integer{"", 0, ElementType::kInt32, 0};
  Column real{"", 0, ElementType::kFloat64, 0};
  Column text{"", 0, ElementType::kByte, kStringBytes};
  put_list(file, "integer scalars", lists.integer_scalars, kIntegerRow, integer);
  put_list(file, "integer runtime parameters", lists.integer_parameters, kIntegerRow, integer);
  put_list(file, "real scalars", lists.real_scalars, kRealRow, real);
  put_list(file, "real runtime parameters", lists.real_parameters, kRealRow, real);
  put_list(file, "string scalars", lists.string_scalars, kStringRow, text);
  put_list(file, "string runtime parameters", lists.string_parameters, kStringRow, text);
  put_list(file, "logical scalars", lists.logical_scalars, kLogicalRow, integer);
  put_list(file, "logical runtime parameters", lists.logical_parameters, kLogicalRow, integer);
}

std::vector<InfoField> info_fields(const Origin& origin) {
  return {
      {"setup call", kLongStringBytes, "stria flash"},
      {"file creation time", kStringBytes, origin.time},
      {"flash version", kStringBytes, "Stria"},
      {"build date", kStringBytes, ""},
      {"build dir", kStringBytes, ""},
      {"build machine", kStringBytes, origin.machine},
      {"cflags", kLongStringBytes, ""},
      {"fflags", kLongStringBytes, ""},
      {"setup time stamp", kStringBytes, ""},
      {"build time stamp", kStringBytes, ""},
  };
}

void put_sim_info(File& file, int format_version, const Origin& origin) {
  const std::vector<InfoField> fields = info_fields(origin);
  std::vector<Column> columns = {{"file format version", 0, ElementType::kInt32, 0}};
  int64_t at = 4;
  for (const InfoField& field : fields) {
    columns.push_back({field.name, at, ElementType::kByte, field.bytes});
    at += field.bytes;
  }
  std::vector<std::byte> row(static_cast<size_t>(at));
  store(row.data(), int64_t{format_version});
  for (size_t i = 0; i < fields.size(); ++i) {
    put_text(row.data() + columns[i + 1].offset_bytes, fields[i].bytes, fields[i].value);
  }
  file.create_table("sim info", columns, at, 1, row.data());
}

ScalarLists get_lists(File& file) {
  ScalarLists lists;
  get_list(file, "integer scalars", lists.integer_scalars);
  get_list(file, "integer runtime parameters", lists.integer_parameters);
  get_list(file, "real scalars", lists.real_scalars);
  get_list(file, "real runtime parameters", lists.real_parameters);
  get_list(file, "string scalars", lists.string_scalars);
  get_list(file, "string runtime parameters", lists.string_parameters);
  get_list(file, "logical scalars", lists.logical_scalars);
  get_list(file, "logical runtime parameters", lists.logical_parameters);
  return lists;
}

}  // namespace stria::flash
