#include "tables.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "calls.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace stria::python {

namespace {

/// Makes something by `make`. An error of this rank fails the next collective call on all ranks.
template <typename Make>
void define_table(stria_file* file, Make&& make) {
  check(c::guarded([&] {
    stria_file& of = c::given(file, "file");
    try {
      make(of);
    } catch (const Error& error) {
      c::Refusal::fail_next_call(of.file, error);
      throw;
    }
  }));
}

/// Records of any strides: one record for each element of the array, of which the last dimension is
/// its bytes.
template <typename Any>
Memory memory_of(const Any& rows, const Columns& columns) {
  const size_t rank = rows.ndim() - 1;
  Memory memory = records(rows.data(), 1, static_cast<int64_t>(rows.shape(rank)), columns);
  for (size_t dim = rank; dim-- > 0;) {
    memory.type = Datatype::hvector(static_cast<int64_t>(rows.shape(dim)), 1, rows.stride(dim), memory.type).value();
  }
  return memory;
}

Hyperslab slab_of(const stria_dataset& dataset, const stria_slab& slab) {
  const auto rank = static_cast<size_t>(dataset.rank);
  return {{slab.start, slab.start + rank}, {slab.count, slab.count + rank}, {slab.stride, slab.stride + rank}};
}

using NamedNumbers = std::vector<std::pair<std::string, int64_t>>;

NamedNumbers names_of(const Column& column) {
  NamedNumbers names;
  for (const NamedNumber& one : column.enumeration) {
    names.emplace_back(one.name, one.value);
  }
  return names;
}

void set_names(Column& column, const NamedNumbers& names) {
  column.enumeration.clear();
  for (const auto& [name, value] : names) {
    column.enumeration.push_back({name, value});
  }
}

}  // namespace

void create_table(stria_file* file, const std::string& path, const Columns& columns, int64_t row_bytes, const nb::bytes& rows) {
  const auto row_count = static_cast<int64_t>(rows.size()) / std::max<int64_t>(row_bytes, 1);
  const char* const name = chars(path);
  define_table(file, [&](stria_file& of) { of.file.create_table(name, columns, row_bytes, row_count, rows.c_str()); });
}

stria_dataset* create_records(stria_file* file, const std::string& path, const Columns& columns,
                              const std::vector<int64_t>& dims, const DatasetOptions& options) {
  stria_dataset* made = nullptr;
  const char* const name = chars(path);
  define_table(file, [&](stria_file& of) { made = c::keep(of, of.file.create_records(name, columns, dims, options)); });
  return made;
}

stria_dataset* create_string_dataset(stria_file* file, const std::string& path, int64_t string_bytes,
                                     const std::vector<int64_t>& dims, const DatasetOptions& options) {
  stria_dataset* made = nullptr;
  const char* const name = chars(path);
  define_table(file,
               [&](stria_file& of) { made = c::keep(of, of.file.create_string_dataset(name, string_bytes, dims, options)); });
  return made;
}

std::pair<Columns, int64_t> columns_of(stria_file* file, const std::string& path) {
  std::pair<Columns, int64_t> result;
  const char* const name = chars(path);
  check(c::guarded([&] { result.first = c::given(file, "file").file.columns(name, &result.second); }));
  return result;
}

nb::bytes read_table(stria_file* file, const std::string& path) {
  std::vector<std::byte> rows;
  const char* const name = chars(path);
  released([&] {
    return c::guarded([&] {
      Columns columns;
      int64_t row_bytes = 0;
      rows = c::given(file, "file").file.read_table(name, &columns, &row_bytes);
    });
  });
  return nb::bytes(rows.data(), rows.size());
}

void put_records(stria_dataset* dataset, const stria_slab& slab, const ConstantRows& rows, const Columns& columns, bool copy) {
  check(c::guarded([&] {
    c::record(dataset, [&](Dataset& of) {
      const Memory memory = memory_of(rows, columns);
      of.put(slab_of(c::given(dataset, "dataset"), slab), copy ? memory.copied() : memory);
    });
  }));
}

void get_records(stria_dataset* dataset, const stria_slab& slab, const Rows& rows, const Columns& columns) {
  check(c::guarded([&] {
    c::record(dataset, [&](Dataset& of) { of.get(slab_of(c::given(dataset, "dataset"), slab), memory_of(rows, columns)); });
  }));
}

void define_columns(nb::module_& module) {
  nb::class_<Column>(module, "Column")
      .def(nb::init<>())
      .def_rw("name", &Column::name)
      .def_rw("offset_bytes", &Column::offset_bytes)
      .def_rw("string_bytes", &Column::string_bytes)
      .def_rw("dims", &Column::dims)
      .def_rw("members", &Column::members)
      .def_rw("record_bytes", &Column::record_bytes)
      .def_rw("big_endian", &Column::big_endian)
      .def_rw("varies", &Column::varies)
      .def_prop_rw(
          "element", [](const Column& column) { return static_cast<int>(column.number); },
          [](Column& column, int element) { column.number = c::element(element); })
      .def_prop_rw(
          "meaning", [](const Column& column) { return static_cast<int>(column.meaning); },
          [](Column& column, int meaning) { column.meaning = static_cast<Meaning>(meaning); })
      .def_prop_rw("enumeration", names_of, set_names);
}

}  // namespace stria::python
