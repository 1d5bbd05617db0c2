// Describes what a verification has found, and what the last commit or flush has done.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stria.h"

namespace stria::python {

/// A dataset and the rows [first, end) of it that are damaged; and remarks.
using Verdict = std::pair<std::vector<std::tuple<std::string, int64_t, int64_t>>, std::vector<std::string>>;

Verdict verify(stria_file* file, const std::vector<std::string>& except);
nanobind::dict report(stria_file* file);

}  // namespace stria::python
