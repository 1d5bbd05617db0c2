// The module that the package stria calls: stria.h with NumPy's arrays. There is one module for
// each MPI, and one without (module_name).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "dataset_options.hpp"
#include "names_and_texts.hpp"
#include "outcomes.hpp"
#include "stria.h"
#include "tables.hpp"
#include "text.hpp"

namespace nb = nanobind;

using stria::python::chars;
using stria::python::check;
using stria::python::Columns;
using stria::python::Failure;
using stria::python::FreedBy;
using stria::python::listed;
using stria::python::Names;
using stria::python::Options;
using stria::python::options_of;
using stria::python::pointers;
using stria::python::released;
using stria::python::strings_of;

namespace {

using Array = nb::ndarray<nb::device::cpu>;
using ConstantArray = nb::ndarray<nb::ro, nb::device::cpu>;
using Sizes = std::vector<int64_t>;
using Slab = std::tuple<Sizes, Sizes, Sizes>;
using stria::python::Texts;

// Makes the exception: stria.errors.exception_of(code name, message). Never destroyed: Python may
// be gone by then.
nb::object& exception_of() {
  static auto* function = new nb::object;
  return *function;
}

using Elements = std::unique_ptr<stria_elements, FreedBy<stria_elements_free>>;
using Type = std::unique_ptr<stria_type, FreedBy<stria_type_free>>;

/// Returns the enum stria_element of an array; -1 when files have no such numbers, which the
/// library refuses.
int element_of(nb::dlpack::dtype type) {
  if (type.lanes != 1) {
    return -1;
  }
  const int width = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : type.bits == 64 ? 3 : -1;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return width < 0 ? -1 : STRIA_INT8 + 2 * width;
    case nb::dlpack::dtype_code::UInt:
      return width < 0 ? -1 : STRIA_UINT8 + 2 * width;
    case nb::dlpack::dtype_code::Bool:
      return width == 0 ? STRIA_UINT8 : -1;
    case nb::dlpack::dtype_code::Float:
      return width == 2 ? STRIA_FLOAT32 : width == 3 ? STRIA_FLOAT64 : -1;
    default:
      return -1;
  }
}

/// Returns the bytes of an array in C order, whatever its strides: one vector per dimension around
/// the element. Of one dimension only the first `length`.
template <typename Any>
Type type_of(const Any& array, size_t axis = SIZE_MAX, int64_t length = 0) {
  stria_type* type = nullptr;
  const int64_t bytes = static_cast<int64_t>(array.itemsize());
  check(stria_type_bytes(bytes, &type));
  Type result(type);
  for (size_t i = array.ndim(); i-- > 0;) {
    stria_type* outer = nullptr;
    const int64_t count = i == axis ? length : static_cast<int64_t>(array.shape(i));
    check(stria_type_hvector(count, 1, array.stride(i) * bytes, result.get(), &outer));
    result.reset(outer);
  }
  return result;
}

struct Dataset {
  stria_dataset* handle = nullptr;
  Sizes dims;
  int element = 0;
  std::string type_name;
  std::string filters;
  std::vector<std::pair<std::string, int64_t>> enumeration;
  std::vector<std::string> dimensions;
  Sizes chunk;
  bool can_grow = false;
};

class File {
 public:
  explicit File(stria_file* file) : file_(file) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  // It waits for a call of another thread, which may want to report its progress to Python.
  void close() {
    end_by([](stria_file** file) { stria_close(file); });
  }
  void give_up(const std::string& reason) {
    end_by([&](stria_file** file) { stria_give_up(file, reason.c_str()); });
  }
  bool is_open() const { return file_ != nullptr; }
  stria_file* get() const {
    if (file_ == nullptr) {
      throw Failure{STRIA_INVALID_ARGUMENT, "the file is closed"};
    }
    return file_;
  }

  /// Calls `report`, which may be None, while data are moved.
  void set_progress(nb::object report) {
    check(stria_progress(get(), report.is_none() ? nullptr : tell, this));
    report_ = std::move(report);
  }

  Dataset describe(stria_dataset* handle) const {
    Dataset dataset{handle,
                    Sizes(static_cast<size_t>(stria_dataset_rank(handle))),
                    stria_dataset_element(handle),
                    stria_dataset_type_name(handle),
                    stria_dataset_filters(handle),
                    {},
                    {},
                    {}};
    check(stria_dataset_dims(handle, dataset.dims.data()));
    dataset.chunk.resize(dataset.dims.size());
    check(stria_dataset_chunk(handle, dataset.chunk.data()));
    for (const stria::NamedNumber& member : stria::c::given(handle, "dataset").dataset.enumeration()) {
      dataset.enumeration.emplace_back(member.name, member.value);
    }
    dataset.can_grow = stria_dataset_can_grow(handle) != 0;
    for (int i = 0; i < static_cast<int>(dataset.dims.size()); ++i) {
      dataset.dimensions.emplace_back(stria_dataset_dimension(handle, i));
    }
    return dataset;
  }

 private:
  template <typename End>
  void end_by(End&& end) {
    stria_file* ending = std::exchange(file_, nullptr);
    {
      const nb::gil_scoped_release released;
      end(&ending);
    }
    report_.reset();
  }

  // An exception would leave the other ranks waiting: Python prints it.
  static void tell(void* self, int64_t done_bytes, int64_t total_bytes) {
    const nb::gil_scoped_acquire acquired;
    const nb::object report = static_cast<File*>(self)->report_;
    try {
      if (report.is_valid()) {  // not after it has closed the file
        report(done_bytes, total_bytes);
      }
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("a report of stria's progress");
    }
  }

  stria_file* file_;
  nb::object report_;
};

/// A map of elements, which outlives files.
struct Map {
  Elements elements;
};

std::unique_ptr<Map> make_map(nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> offsets) {
  stria_elements* elements = nullptr;
  check(stria_elements_new(static_cast<int64_t>(offsets.shape(0)), offsets.data(), &elements));
  return std::unique_ptr<Map>(new Map{Elements(elements)});
}

int create(std::optional<int> comm, const char* path, const stria_options* options, stria_file** file) {
  return comm ? stria_create_f(*comm, path, options, file) : stria_create(path, options, file);
}

int open(std::optional<int> comm, const char* path, const stria_options* options, stria_file** file) {
  return comm ? stria_open_f(*comm, path, options, file) : stria_open(path, options, file);
}

int append(std::optional<int> comm, const char* path, const stria_options* options, stria_file** file) {
  return comm ? stria_append_f(*comm, path, options, file) : stria_append(path, options, file);
}

template <typename Begin>
std::unique_ptr<File> begin(Begin call, std::optional<int> comm, const std::string& path, const Names& names) {
  const Options options = options_of(names);
  stria_file* file = nullptr;
  nb::gil_scoped_release released;
  check(call(comm, chars(path), options.get(), &file));
  return std::make_unique<File>(file);
}

/// A commit that goes on by itself.
class Commit {
 public:
  explicit Commit(stria_commit_handle* handle) : handle_(handle) {}
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;
  ~Commit() { stria_commit_free(&handle_); }
  const stria_commit_handle* get() const { return handle_; }

 private:
  stria_commit_handle* handle_;
};

// The bytes of strings are moved as they are.
int element_for(const Dataset& dataset, nb::dlpack::dtype type) {
  const int element = element_of(type);
  return dataset.element == STRIA_BYTE && element == STRIA_UINT8 ? STRIA_BYTE : element;
}

void put(File& file, Dataset& dataset, const Sizes& start, const Sizes& count, const Sizes& stride, ConstantArray array,
         bool copy) {
  static_cast<void>(file.get());  // the datasets are gone with it
  const stria_slab slab{start.data(), count.data(), stride.data(), nullptr};
  const auto call = copy ? stria_put_slab_copy : stria_put_slab;
  check(call(dataset.handle, &slab, array.data(), type_of(array).get(), element_for(dataset, array.dtype())));
}

void get(File& file, Dataset& dataset, const Sizes& start, const Sizes& count, const Sizes& stride, Array array) {
  static_cast<void>(file.get());  // the datasets are gone with it
  const stria_slab slab{start.data(), count.data(), stride.data(), nullptr};
  check(stria_get_slab(dataset.handle, &slab, array.data(), type_of(array).get(), element_for(dataset, array.dtype())));
}

/// Gets many runs of one dimension, [first, first + length) each, which follow each other in the
/// array.
void get_runs(File& file, Dataset& dataset, const Slab& box, size_t axis, const std::vector<std::pair<int64_t, int64_t>>& runs,
              Array array) {
  static_cast<void>(file.get());
  auto [start, count, stride] = box;
  const int element = element_for(dataset, array.dtype());
  const int64_t step_bytes = array.stride(axis) * static_cast<int64_t>(array.itemsize());
  auto* place = static_cast<char*>(array.data());
  for (const auto& [first, length] : runs) {
    start.at(axis) = first;
    count.at(axis) = length;
    const stria_slab slab{start.data(), count.data(), stride.data(), nullptr};
    check(stria_get_slab(dataset.handle, &slab, place, type_of(array, axis, length).get(), element));
    place += length * step_bytes;
  }
}

// The arrays are contiguous, which the package sees to.
void put_elements(File& file, Dataset& dataset, const Map& map, ConstantArray array, bool copy) {
  static_cast<void>(file.get());
  const auto call = copy ? stria_put_elements_copy : stria_put_elements;
  check(call(dataset.handle, map.elements.get(), array.data(), element_of(array.dtype())));
}

void get_elements(File& file, Dataset& dataset, const Map& map, Array array) {
  static_cast<void>(file.get());
  check(stria_get_elements(dataset.handle, map.elements.get(), array.data(), element_of(array.dtype())));
}

std::tuple<int64_t, int64_t, int64_t> place_rows(File& file, int64_t count) {
  stria_rows rows{};
  released([&] { return stria_place_rows(file.get(), count, &rows); });
  return {rows.first, rows.count, rows.total};
}

std::pair<int64_t, int64_t> share_rows(File& file, int64_t total) {
  stria_rows rows{};
  check(stria_share_rows(file.get(), total, &rows));
  return {rows.first, rows.count};
}

void set_numbers(File& file, const std::string& object, const std::string& name, ConstantArray values) {
  Sizes dims;
  for (size_t i = 0; i < values.ndim(); ++i) {
    dims.push_back(static_cast<int64_t>(values.shape(i)));
  }
  check(stria_set_array(file.get(), chars(object), chars(name), element_of(values.dtype()), static_cast<int>(dims.size()),
                        dims.data(), values.data()));
}

void set_strings(File& file, const std::string& object, const std::string& name, const std::vector<std::string>& values,
                 bool list) {
  const auto texts = pointers(values);
  check(list ? stria_set_strings(file.get(), chars(object), chars(name), static_cast<int64_t>(texts.size()), texts.data())
             : stria_set_string(file.get(), chars(object), chars(name), texts.at(0)));
}

void set_booleans(File& file, const std::string& object, const std::string& name, const std::vector<uint8_t>& values,
                  bool list) {
  check(stria_set_booleans(file.get(), chars(object), chars(name), list ? static_cast<int64_t>(values.size()) : -1,
                           values.data()));
}

/// `parts` has pairs of numbers, in C order.
void set_complex(File& file, const std::string& object, const std::string& name, ConstantArray parts, bool list) {
  check(stria_set_complex(file.get(), chars(object), chars(name), element_of(parts.dtype()),
                          list ? static_cast<int64_t>(parts.size() / 2) : -1, parts.data()));
}

void set_references(File& file, const std::string& object, const std::string& name, const std::vector<std::string>& paths,
                    bool list) {
  const auto texts = pointers(paths);
  check(stria_set_references(file.get(), chars(object), chars(name), list ? static_cast<int64_t>(texts.size()) : -1,
                             texts.data()));
}

std::vector<double> get_complex(File& file, const std::string& object, const std::string& name) {
  int64_t count = 0;
  released([&] { return stria_get_complex(file.get(), chars(object), chars(name), STRIA_FLOAT64, 0, nullptr, &count); });
  std::vector<double> parts(2 * static_cast<size_t>(count));
  released(
      [&] { return stria_get_complex(file.get(), chars(object), chars(name), STRIA_FLOAT64, count, parts.data(), &count); });
  return parts;
}

template <typename Number, int kElement>
std::vector<Number> get_numbers(File& file, const std::string& object, const std::string& name) {
  int64_t count = 0;
  released([&] { return stria_get_numbers(file.get(), chars(object), chars(name), kElement, 0, nullptr, &count); });
  std::vector<Number> values(static_cast<size_t>(count));
  released([&] { return stria_get_numbers(file.get(), chars(object), chars(name), kElement, count, values.data(), &count); });
  return values;
}

void define_life(nb::class_<File>& type) {
  type.def_prop_ro("is_open", &File::is_open)
      .def("close", &File::close)
      .def("give_up", &File::give_up)
      .def("flush", [](File& file) { released([&] { return stria_flush(file.get()); }); })
      .def("commit", [](File& file) { released([&] { return stria_commit(file.get()); }); })
      .def("commit_async",
           [](File& file) {
             stria_commit_handle* handle = nullptr;
             released([&] { return stria_commit_async(file.get(), &handle); });
             return std::make_unique<Commit>(handle);
           })
      .def("discard", [](File& file) { released([&] { return stria_discard(file.get()); }); });
}

/// Returns the bytes of a number; None where there is none.
std::optional<nb::bytes> fill_value_of(File& file, Dataset& dataset) {
  static_cast<void>(file.get());  // the datasets are gone with it
  char value[8] = {};
  int given = 0;
  check(stria_dataset_fill_value(dataset.handle, value, &given));
  return given != 0 ? std::optional(nb::bytes(value, static_cast<size_t>(stria_element_bytes(dataset.element)))) : std::nullopt;
}

void define_creation(nb::class_<File>& type) {
  type.def("create_dataset",
           [](File& file, const std::string& path, int element, const Sizes& dims, const stria::DatasetOptions& options) {
             return file.describe(stria::python::create_dataset(file.get(), path, element, dims, options));
           })
      .def("create_records",
           [](File& file, const std::string& path, const Columns& columns, const Sizes& dims,
              const stria::DatasetOptions& options) {
             return file.describe(stria::python::create_records(file.get(), path, columns, dims, options));
           })
      .def("create_string_dataset", [](File& file, const std::string& path, int64_t string_bytes, const Sizes& dims,
                                       const stria::DatasetOptions& options) {
        return file.describe(stria::python::create_string_dataset(file.get(), path, string_bytes, dims, options));
      });
}

void define_data(nb::class_<File>& type) {
  type.def("append_rows",
           [](File& file, const std::string& path, int64_t rows) {
             stria_dataset* handle = nullptr;
             check(stria_append_rows(file.get(), chars(path), rows, &handle));
             return file.describe(handle);
           })
      .def("update",
           [](File& file, const std::string& path) {
             stria_dataset* handle = nullptr;
             check(stria_update(file.get(), chars(path), &handle));
             return file.describe(handle);
           })
      .def(
          "create_link",
          [](File& file, const std::string& path, const std::string& target, const std::optional<std::string>& target_file) {
            check(stria_create_link(file.get(), chars(path), chars(target), target_file ? chars(*target_file) : nullptr));
          },
          nb::arg("path"), nb::arg("target"), nb::arg("target_file").none())
      .def("find_dataset",
           [](File& file, const std::string& path) {
             stria_dataset* handle = nullptr;
             check(stria_find_dataset(file.get(), chars(path), &handle));
             return file.describe(handle);
           })
      .def("datasets", [](File& f) { return listed([&](stria_list** out) { return stria_datasets(f.get(), out); }); })
      .def("bytes",
           [](File& file, Dataset& dataset) {
             static_cast<void>(file.get());  // the datasets are gone with it
             int64_t bytes = 0;
             check(stria_dataset_bytes(dataset.handle, &bytes, nullptr));
             return bytes;
           })
      .def("stored_bytes",
           [](File& file, Dataset& dataset) {
             static_cast<void>(file.get());
             int64_t bytes = 0;
             released([&] { return stria_dataset_bytes(dataset.handle, nullptr, &bytes); });
             return bytes;
           })
      .def("fill_value", fill_value_of)
      .def("is_contiguous",
           [](File& file, Dataset& dataset) {
             static_cast<void>(file.get());
             int contiguous = 0;
             check(stria_dataset_is_contiguous(dataset.handle, &contiguous));
             return contiguous != 0;
           })
      .def("put", put)
      .def("get", get)
      .def("get_runs", get_runs)
      .def("put_records",
           [](File& file, Dataset& dataset, const Sizes& start, const Sizes& count, const Sizes& stride, ConstantArray rows,
              const Columns& columns, bool copy) {
             static_cast<void>(file.get());
             stria::python::put_records(dataset.handle, {start.data(), count.data(), stride.data(), nullptr}, rows, columns,
                                        copy);
           })
      .def("get_records",
           [](File& file, Dataset& dataset, const Sizes& start, const Sizes& count, const Sizes& stride, Array rows,
              const Columns& columns) {
             static_cast<void>(file.get());
             stria::python::get_records(dataset.handle, {start.data(), count.data(), stride.data(), nullptr}, rows, columns);
           })
      .def("put_elements", put_elements)
      .def("get_elements", get_elements)
      .def("place_rows", place_rows)
      .def("share_rows", share_rows)
      .def("progress", &File::set_progress, nb::arg("report").none());
}

void define_attributes(nb::class_<File>& type) {
  type.def("set_numbers", set_numbers)
      .def("set_strings", set_strings)
      .def("set_texts",
           [](File& file, const std::string& object, const std::string& name, const Texts& texts, bool list) {
             stria::python::set_texts(file.get(), {object, name}, texts, list);
           })
      .def("set_booleans", set_booleans)
      .def("set_complex", set_complex)
      .def("set_references", set_references)
      .def("get_complex", get_complex)
      .def("get_references",
           [](File& file, const std::string& object, const std::string& name) {
             return listed([&](stria_list** out) { return stria_get_references(file.get(), chars(object), chars(name), out); });
           })
      .def("get_floats", get_numbers<double, STRIA_FLOAT64>)
      .def("get_signed", get_numbers<int64_t, STRIA_INT64>)
      .def("get_unsigned", get_numbers<uint64_t, STRIA_UINT64>)
      .def("get_strings",
           [](File& file, const std::string& object, const std::string& name) {
             return listed([&](stria_list** out) { return stria_get_strings(file.get(), chars(object), chars(name), out); });
           })
      .def("attribute_types",
           [](File& file, const std::string& object) {
             return listed([&](stria_list** out) { return stria_attribute_types(file.get(), chars(object), out); });
           })
      .def("attributes",
           [](File& file, const std::string& object) {
             return listed([&](stria_list** out) { return stria_attributes(file.get(), chars(object), out); });
           })
      .def("read_strings",
           [](File& file, const std::string& path) {
             return listed([&](stria_list** out) { return stria_read_strings(file.get(), chars(path), out); });
           })
      .def("create_texts",
           [](File& file, const std::string& path, const Sizes& dims, const Texts& texts, const Texts& dimensions) {
             stria::python::create_texts(file.get(), {path, dims, texts, dimensions});
           })
      .def("has_group", [](File& file, const std::string& path) { return stria::python::has_group(file.get(), path); })
      .def("members", [](File& file, const std::string& group) { return stria::python::members(file.get(), group); })
      .def("link_to_file", [](File& file, const std::string& path) { return stria::python::link_to_file(file.get(), path); })
      .def("create_string_array",
           [](File& file, const std::string& path, const Sizes& dims, const std::vector<std::string>& strings, int64_t bytes) {
             const auto texts = pointers(strings);
             check(stria_create_string_array(file.get(), chars(path), static_cast<int>(dims.size()), dims.data(), texts.data(),
                                             bytes));
           })
      .def(
          "create_string_column",
          [](File& file, const std::string& path, const std::vector<std::string>& strings, int64_t bytes) {
            const auto texts = pointers(strings);
            check(stria_create_string_column(file.get(), chars(path), static_cast<int64_t>(texts.size()), texts.data(), bytes));
          })
      .def("create_table",
           [](File& file, const std::string& path, const Columns& columns, int64_t row_bytes, const nb::bytes& rows) {
             stria::python::create_table(file.get(), path, columns, row_bytes, rows);
           })
      .def("read_table", [](File& file, const std::string& path) { return stria::python::read_table(file.get(), path); })
      .def("columns", [](File& file, const std::string& path) { return stria::python::columns_of(file.get(), path); })
      .def("verify",
           [](File& file, const std::vector<std::string>& except) { return stria::python::verify(file.get(), except); })
      .def("report", [](File& file) { return stria::python::report(file.get()); })
      .def("format", [](File& file) { return stria_file_format(file.get()); })
      .def("hints", [](File& f) { return listed([&](stria_list** out) { return stria_hints(f.get(), out); }); })
      .def("hint_warnings",
           [](File& f) { return listed([&](stria_list** out) { return stria_hint_warnings(f.get(), out); }); });
}

void define_classes(nb::module_& module) {
  nb::class_<Dataset>(module, "Dataset")
      .def_ro("dims", &Dataset::dims)
      .def_ro("element", &Dataset::element)
      .def_ro("type_name", &Dataset::type_name)
      .def_ro("filters", &Dataset::filters)
      .def_ro("enumeration", &Dataset::enumeration)
      .def_ro("dimensions", &Dataset::dimensions)
      .def_ro("chunk", &Dataset::chunk)
      .def_ro("can_grow", &Dataset::can_grow);

  nb::class_<Map>(module, "Map");
  module.def("make_map", make_map);

  nb::class_<Commit>(module, "Commit")
      .def("done", [](Commit& commit) { return stria_commit_done(commit.get()) != 0; })
      .def("wait", [](Commit& commit) { released([&] { return stria_commit_wait(commit.get()); }); });

  nb::class_<File> file(module, "File");
  define_life(file);
  define_creation(file);
  define_data(file);
  define_attributes(file);
}

}  // namespace

NB_MODULE(STRIA_MODULE, module) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      nb::object exception = exception_of()(stria_code_name(failure.code), failure.message);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
    }
  });
  module.def("raise_by", [](nb::object function) { exception_of() = std::move(function); });
  module.def("version", stria_version);
  stria::python::define_paths(module);
  stria::python::define_tracing(module);
  stria::python::define_columns(module);
  stria::python::define_dataset_options(module);
  define_classes(module);
  module.def(
      "create",
      [](std::optional<int> comm, const std::string& path, const Names& options) { return begin(create, comm, path, options); },
      nb::arg("comm").none(), nb::arg("path"), nb::arg("options"));
  module.def(
      "open",
      [](std::optional<int> comm, const std::string& path, const Names& options) { return begin(open, comm, path, options); },
      nb::arg("comm").none(), nb::arg("path"), nb::arg("options"));
  module.def(
      "append",
      [](std::optional<int> comm, const std::string& path, const Names& options) { return begin(append, comm, path, options); },
      nb::arg("comm").none(), nb::arg("path"), nb::arg("options"));
}
