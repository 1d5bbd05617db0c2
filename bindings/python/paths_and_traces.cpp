// Names of files, hints, and tracing.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include "calls.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace stria::python {

namespace {

std::vector<std::string> drain_staged(const std::string& place) {
  stria_list* brought = nullptr;
  released([&] { return stria_drain_staged(chars(place), &brought); });
  return strings_of(List(brought).get());
}

}  // namespace

void define_paths(nb::module_& module) {
  module.def("drain_staged", drain_staged, nb::arg("place"));
  module.def(
      "remove_abandoned",
      [](const std::string& directory, const std::string& prefix) {
        return listed([&](stria_list** out) { return stria_remove_abandoned(chars(directory), chars(prefix), out); });
      },
      nb::arg("directory"), nb::arg("prefix"));
  module.def(
      "hint_problems",
      [](const Names& hints) {
        const Options options = options_of(hints);
        return listed([&](stria_list** out) { return stria_hint_problems(options.get(), out); });
      },
      nb::arg("hints"));
  module.def(
      "path_exists",
      [](const std::string& path) {
        int exists = 0;
        released([&] { return stria_path_exists(chars(path), &exists); });
        return exists != 0;
      },
      nb::arg("path"));
  module.def(
      "list_directory",
      [](const std::string& directory) {
        return listed([&](stria_list** out) { return stria_list_directory(chars(directory), out); });
      },
      nb::arg("directory"));
  module.def(
      "remove_file", [](const std::string& path) { released([&] { return stria_remove_file(chars(path)); }); },
      nb::arg("path"));
}

void define_tracing(nb::module_& module) {
  module.def(
      "trace_start",
      [](int comm, int level, const std::string& directory) {
        released([&] { return stria_trace_start_f(comm, level, chars(directory)); });
      },
      nb::arg("comm"), nb::arg("level"), nb::arg("directory"));
  module.def(
      "trace_start_from_environment", [](int comm) { released([&] { return stria_trace_start_from_environment_f(comm); }); },
      nb::arg("comm"));
  module.def("trace_finish", [] {
    stria_list* path = nullptr;
    released([&] { return stria_trace_finish(&path); });
    return strings_of(List(path).get());
  });
  module.def(
      "trace_set_level", [](int level) { check(stria_trace_set_level(level)); }, nb::arg("level"));
  module.def("trace_level", stria_trace_level);
  module.def("trace_flush", stria_trace_flush);
  module.def(
      "trace_begin", [](const std::string& name) { check(stria_trace_begin(chars(name))); }, nb::arg("name"));
  module.def("trace_end", [] { check(stria_trace_end()); });
}

}  // namespace stria::python
