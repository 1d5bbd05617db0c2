// Describes what create_dataset() is given besides type and shape.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <vector>

#include "c/handles.hpp"

namespace stria::python {

/// Calls stria_create_dataset(). Throws Failure.
stria_dataset* create_dataset(stria_file* file, const std::string& path, int element, const std::vector<int64_t>& dims,
                              const DatasetOptions& options);

/// Defines the class DatasetOptions of the module, with a value for each option and no text that is
/// cut up.
void define_dataset_options(nanobind::module_& module);

}  // namespace stria::python
