#include "dataset_options.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "c/handles.hpp"
#include "calls.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace stria::python {

namespace {

using NamedValues = std::vector<std::pair<std::string, int64_t>>;

void set_filters(DatasetOptions& options, const std::string& text) {
  check(c::guarded([&] { options.filters = Filters::from_text(text); }));
}

void set_enumeration(DatasetOptions& options, const NamedValues& values) {
  options.enumeration.clear();
  for (const auto& [name, value] : values) {
    options.enumeration.push_back({chars(name), value});
  }
}

void set_dimensions(DatasetOptions& options, const std::vector<std::string>& names) {
  options.dimensions.clear();
  for (const std::string& name : names) {
    options.dimensions.emplace_back(chars(name));
  }
}

template <typename Number>
void fill_with(DatasetOptions& options, Number value) {
  options.fill_value = value;
}

}  // namespace

stria_dataset* create_dataset(stria_file* file, const std::string& path, int element, const std::vector<int64_t>& dims,
                              const DatasetOptions& options) {
  stria_dataset* made = nullptr;
  const char* const name = chars(path);
  check(c::guarded([&] {
    stria_file& of = c::given(file, "file");
    try {
      made = c::keep(of, of.file.create_dataset(name, c::element(element), dims, options));
    } catch (const Error& error) {
      c::Refusal::fail_next_call(of.file, error);
      throw;
    }
  }));
  return made;
}

void define_dataset_options(nb::module_& module) {
  nb::class_<DatasetOptions>(module, "DatasetOptions")
      .def(nb::init<>())
      .def_rw("value_range", &DatasetOptions::value_range)
      .def_rw("alignment_bytes", &DatasetOptions::alignment_bytes)
      .def_rw("big_endian", &DatasetOptions::big_endian)
      .def_rw("chunk", &DatasetOptions::chunk)
      .def_rw("unlimited", &DatasetOptions::unlimited)
      .def_rw("data_hash", &DatasetOptions::data_hash)
      .def("set_meaning", [](DatasetOptions& options, int meaning) { options.meaning = static_cast<Meaning>(meaning); })
      .def("set_filters", set_filters)
      .def("set_shuffle", [](DatasetOptions& options, bool shuffle) { options.filters.shuffle = shuffle; })
      .def("set_fletcher32", [](DatasetOptions& options, bool fletcher32) { options.filters.fletcher32 = fletcher32; })
      .def("set_dimensions", set_dimensions)
      .def("set_enumeration", set_enumeration)
      .def("fill_with_integer", fill_with<int64_t>)
      .def("fill_with_unsigned", fill_with<uint64_t>)
      .def("fill_with_real", fill_with<double>)
      .def("fill_with_bits_of_half", fill_with<uint16_t>)
      .def("fill_with_complex", [](DatasetOptions& options, double real, double imaginary) {
        options.fill_value = std::complex<double>(real, imaginary);
      });
}

}  // namespace stria::python
