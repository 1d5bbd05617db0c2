// Attributes: numbers, strings and references, one or a list; links; records and strings.
#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <span>

#include "handles.hpp"

using stria::ElementType;
using stria::c::given;
using stria::c::guarded;
using stria::c::text;

namespace {

/// Calls `use` with a number of the type in memory.
template <typename Use>
void with_number(ElementType type, Use&& use) {
  switch (type) {
    case ElementType::kInt8:
      return use(int8_t{});
    case ElementType::kByte:
    case ElementType::kUint8:
      return use(uint8_t{});
    case ElementType::kInt16:
      return use(int16_t{});
    case ElementType::kUint16:
      return use(uint16_t{});
    case ElementType::kInt32:
      return use(int32_t{});
    case ElementType::kUint32:
      return use(uint32_t{});
    case ElementType::kInt64:
      return use(int64_t{});
    case ElementType::kUint64:
      return use(uint64_t{});
    case ElementType::kFloat32:
      return use(float{});
    case ElementType::kFloat64:
      return use(double{});
  }
}

/// Sets an attribute by `set`. An error of this rank fails the next collective call on all ranks.
template <typename Set>
int define(stria_file* file, Set&& set) {
  return guarded([&] {
    stria::File& of = given(file, "file").file;
    try {
      set(of);
    } catch (const stria::Error& error) {
      stria::c::Refusal::fail_next_call(of, error);
      throw;
    }
  });
}

/// Calls `use` with a complex number of parts of the type.
template <typename Use>
void with_complex(int element, Use&& use) {
  if (element == STRIA_FLOAT32) {
    return use(std::complex<float>());
  }
  if (element != STRIA_FLOAT64) {
    stria::c::refuse("complex numbers have parts of STRIA_FLOAT32 or STRIA_FLOAT64");
  }
  use(std::complex<double>());
}

/// Copies what was read where there is room for it.
template <typename Number>
void copy_out(const std::vector<Number>& list, const std::string& what, int64_t capacity, void* values, int64_t* count) {
  if (count != nullptr) {
    *count = static_cast<int64_t>(list.size());
  }
  if (capacity > 0 && list.size() > static_cast<size_t>(capacity)) {
    stria::c::refuse(what + " has " + std::to_string(list.size()) + " values, more than the " + std::to_string(capacity) +
                     " that there is room for");
  }
  if (capacity > 0 && !list.empty()) {
    std::memcpy(&given(static_cast<char*>(values), "values"), list.data(), list.size() * sizeof(Number));
  }
}

std::string naming(const char* object, const char* name) {
  return "attribute '" + text(name) + "' of '" + text(object) + "'";
}

std::vector<std::string> texts(const char* const* values, int64_t count) {
  std::vector<std::string> result;
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(text((&given(values, "values"))[i]));
  }
  return result;
}

std::vector<int64_t> shape(int rank, const int64_t* dims) {
  return rank <= 0 ? std::vector<int64_t>() : std::vector<int64_t>(&given(dims, "dims"), dims + rank);
}

int64_t elements_in(const std::vector<int64_t>& sizes) {
  int64_t elements = 1;
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) {
      stria::c::refuse("a dimension is negative, or the shape has more than 2^63 elements");
    }
  }
  return elements;
}

void require_count(int64_t count) {
  if (count < 0) {
    stria::c::refuse("the number of values is negative");
  }
}

std::vector<stria::Column> columns_of(const stria_records& records) {
  std::vector<stria::Column> columns;
  for (int64_t i = 0; i < records.column_count; ++i) {
    const stria_column& column = (&given(records.columns, "columns"))[i];
    columns.push_back({text(column.name), column.offset_bytes, stria::c::element(column.element), column.string_bytes});
  }
  return columns;
}

}  // namespace

struct stria_table {
  std::vector<std::byte> rows;
  std::vector<stria::Column> columns;
  std::vector<stria_column> described;
  stria_records records{};
};

namespace {

void describe(stria_table& table) {
  table.columns = stria::flat_columns(table.columns, table.records.row_bytes);
  for (const stria::Column& column : table.columns) {
    table.described.push_back({column.name.c_str(), column.offset_bytes, column.string_bytes, static_cast<int>(column.number)});
  }
  table.records.columns = table.described.data();
  table.records.column_count = static_cast<int64_t>(table.described.size());
}

}  // namespace

int stria_set_number(stria_file* file, const char* object, const char* name, int element, const void* value) {
  return define(file, [&](stria::File& of) {
    const auto* bytes = &given(static_cast<const char*>(value), "value");
    with_number(stria::c::element(element), [&](auto number) {
      std::memcpy(&number, bytes, sizeof number);
      of.set_attribute(text(object), text(name), number);
    });
  });
}

int stria_set_numbers(stria_file* file, const char* object, const char* name, int element, int64_t count, const void* values) {
  return stria_set_array(file, object, name, element, 1, &count, values);
}

int stria_set_array(stria_file* file, const char* object, const char* name, int element, int rank, const int64_t* dims,
                    const void* values) {
  return define(file, [&](stria::File& of) {
    const std::vector<int64_t> shape =
        rank < 1 ? std::vector<int64_t>() : std::vector<int64_t>(&given(dims, "dims"), dims + rank);
    int64_t count = 1;
    for (const int64_t length : shape) {
      require_count(length);
      if (__builtin_mul_overflow(count, length, &count)) {
        stria::c::refuse("the number of values is too large");
      }
    }
    with_number(stria::c::element(element), [&](auto number) {
      std::vector<decltype(number)> list(static_cast<size_t>(count));
      if (count > 0) {
        std::memcpy(list.data(), &given(static_cast<const char*>(values), "values"), list.size() * sizeof number);
      }
      of.set_attribute(text(object), text(name), shape, list);
    });
  });
}

int stria_set_booleans(stria_file* file, const char* object, const char* name, int64_t count, const unsigned char* values) {
  return define(file, [&](stria::File& of) {
    const auto size = static_cast<size_t>(count < 0 ? 1 : count);
    const auto list = std::make_unique<bool[]>(size);
    for (size_t i = 0; i < size; ++i) {
      list[i] = (&given(values, "values"))[i] != 0;
    }
    count < 0 ? of.set_attribute(text(object), text(name), list[0])
              : of.set_attribute(text(object), text(name), std::span<const bool>(list.get(), size));
  });
}

int stria_set_complex(stria_file* file, const char* object, const char* name, int element, int64_t count, const void* values) {
  return define(file, [&](stria::File& of) {
    with_complex(element, [&](auto number) {
      std::vector<decltype(number)> list(static_cast<size_t>(count < 0 ? 1 : count));
      if (!list.empty()) {
        std::memcpy(static_cast<void*>(list.data()), &given(static_cast<const char*>(values), "values"),
                    list.size() * sizeof number);
      }
      count < 0 ? of.set_attribute(text(object), text(name), list[0]) : of.set_attribute(text(object), text(name), list);
    });
  });
}

int stria_set_references(stria_file* file, const char* object, const char* name, int64_t count, const char* const* paths) {
  return define(file, [&](stria::File& of) {
    std::vector<stria::Reference> list;
    for (std::string& path : texts(paths, count < 0 ? 1 : count)) {
      list.push_back({std::move(path)});
    }
    count < 0 ? of.set_attribute(text(object), text(name), list[0]) : of.set_attribute(text(object), text(name), list);
  });
}

int stria_create_link(stria_file* file, const char* path, const char* target, const char* target_file) {
  return define(file, [&](stria::File& of) {
    target_file == nullptr ? of.create_link(text(path), text(target))
                           : of.create_link(text(path), text(target), text(target_file));
  });
}

// An error of this rank only is reported after the collective call, as below.
int stria_get_complex(stria_file* file, const char* object, const char* name, int element, int64_t capacity, void* values,
                      int64_t* count) {
  return guarded([&] {
    stria::File& of = given(file, "file").file;
    with_complex(element == STRIA_FLOAT32 ? STRIA_FLOAT32 : STRIA_FLOAT64, [&](auto number) {
      const auto list = of.attribute<std::vector<decltype(number)>>(text(object), text(name));
      with_complex(element, [](auto) {});
      copy_out(list, naming(object, name), capacity, values, count);
    });
  });
}

int stria_get_references(stria_file* file, const char* object, const char* name, stria_list** paths) {
  return guarded([&] {
    std::vector<std::string> list;
    for (stria::Reference& one : given(file, "file").file.attribute<std::vector<stria::Reference>>(text(object), text(name))) {
      list.push_back(std::move(one.path));
    }
    given(paths, "paths") = stria::c::new_list(std::move(list));
  });
}

int stria_set_string(stria_file* file, const char* object, const char* name, const char* value) {
  return define(file, [&](stria::File& of) { of.set_attribute(text(object), text(name), text(value)); });
}

int stria_set_strings(stria_file* file, const char* object, const char* name, int64_t count, const char* const* values) {
  return define(file, [&](stria::File& of) {
    require_count(count);
    of.set_attribute(text(object), text(name), texts(values, count));
  });
}

// The collective call comes first; an error of this rank only is reported after it.
int stria_get_numbers(stria_file* file, const char* object, const char* name, int element, int64_t capacity, void* values,
                      int64_t* count) {
  return guarded([&] {
    stria::File& of = given(file, "file").file;
    const bool known = element >= STRIA_BYTE && element <= STRIA_FLOAT64;
    with_number(known ? static_cast<ElementType>(element) : ElementType::kFloat64, [&](auto number) {
      const auto list = of.attribute<std::vector<decltype(number)>>(text(object), text(name));
      stria::c::element(element);
      copy_out(list, naming(object, name), capacity, values, count);
    });
  });
}

int stria_get_strings(stria_file* file, const char* object, const char* name, stria_list** strings) {
  return guarded([&] {
    auto list = given(file, "file").file.attribute<std::vector<std::string>>(text(object), text(name));
    given(strings, "strings") = stria::c::new_list(std::move(list));
  });
}

int stria_attributes(stria_file* file, const char* object, stria_list** names) {
  return guarded([&] {
    std::vector<std::string> list;
    for (const stria::AttributeInfo& attribute : given(file, "file").file.attributes(text(object))) {
      list.push_back(attribute.name);
    }
    given(names, "names") = stria::c::new_list(std::move(list));
  });
}

int stria_attribute_types(stria_file* file, const char* object, stria_list** types) {
  return guarded([&] {
    std::vector<std::string> list;
    for (const stria::AttributeInfo& attribute : given(file, "file").file.attributes(text(object))) {
      std::string sizes;
      for (const int64_t size : attribute.dims) {
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
      }
      list.push_back(attribute.type_name + " (" + sizes + ")");
    }
    given(types, "types") = stria::c::new_list(std::move(list));
  });
}

int stria_create_table(stria_file* file, const char* path, const stria_records* records) {
  return define(file, [&](stria::File& of) {
    const stria_records& table = given(records, "records");
    of.create_table(text(path), columns_of(table), table.row_bytes, table.row_count, table.rows);
  });
}

int stria_create_records(stria_file* file, const char* path, const stria_records* records, int rank, const int64_t* dims,
                         const stria_options* options, stria_dataset** dataset) {
  return define(file, [&](stria::File& of) {
    const std::vector<int64_t> sizes = shape(rank, dims);
    const auto columns = columns_of(given(records, "records"));
    given(dataset, "dataset") =
        stria::c::keep(given(file, "file"), of.create_records(text(path), columns, sizes, stria::c::dataset_options(options)));
  });
}

int stria_create_string_dataset(stria_file* file, const char* path, int64_t string_bytes, int rank, const int64_t* dims,
                                const stria_options* options, stria_dataset** dataset) {
  return define(file, [&](stria::File& of) {
    const std::vector<int64_t> sizes = shape(rank, dims);
    given(dataset, "dataset") = stria::c::keep(
        given(file, "file"), of.create_string_dataset(text(path), string_bytes, sizes, stria::c::dataset_options(options)));
  });
}

int stria_type_records(const stria_records* records, stria_type** type) {
  return guarded([&] {
    const stria_records& of = given(records, "records");
    const stria::Memory memory = stria::records(of.rows, of.row_count, of.row_bytes, columns_of(of));
    given(type, "type") = new stria_type{memory.type, memory.columns};
  });
}

int stria_read_columns(stria_file* file, const char* path, stria_table** table) {
  return guarded([&] {
    auto read = std::make_unique<stria_table>();
    read->columns = given(file, "file").file.columns(text(path), &read->records.row_bytes);
    describe(*read);
    given(table, "table") = read.release();
  });
}

int stria_create_strings(stria_file* file, const char* path, int64_t count, const char* const* strings, int64_t string_bytes) {
  return define(file, [&](stria::File& of) {
    require_count(count);
    of.create_strings(text(path), texts(strings, count), string_bytes, false);
  });
}

int stria_create_string_column(stria_file* file, const char* path, int64_t count, const char* const* strings,
                               int64_t string_bytes) {
  return define(file, [&](stria::File& of) {
    require_count(count);
    of.create_strings(text(path), texts(strings, count), string_bytes, true);
  });
}

int stria_create_string_array(stria_file* file, const char* path, int rank, const int64_t* dims, const char* const* strings,
                              int64_t string_bytes) {
  return define(file, [&](stria::File& of) {
    const std::vector<int64_t> sizes = shape(rank, dims);
    of.create_string_array(text(path), sizes, texts(strings, elements_in(sizes)), string_bytes);
  });
}

int stria_read_table(stria_file* file, const char* path, stria_table** table) {
  return guarded([&] {
    auto read = std::make_unique<stria_table>();
    read->rows = given(file, "file").file.read_table(text(path), &read->columns, &read->records.row_bytes);
    describe(*read);
    read->records.row_count = static_cast<int64_t>(read->rows.size()) / std::max<int64_t>(read->records.row_bytes, 1);
    read->records.rows = read->rows.data();
    given(table, "table") = read.release();
  });
}

int stria_read_strings(stria_file* file, const char* path, stria_list** strings) {
  return guarded([&] {
    auto list = given(file, "file").file.read_strings(text(path));
    given(strings, "strings") = stria::c::new_list(std::move(list));
  });
}

const stria_records* stria_table_records(const stria_table* table) {
  return table == nullptr ? nullptr : &table->records;
}

void stria_table_free(stria_table* table) {
  delete table;
}
