// The median and the range of repeated measurements, in the form that all JSON results use.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace stria::tool {

struct Spread {
  double median = 0, minimum = 0, maximum = 0;
};

/// All are zero when there are no values.
Spread spread(std::vector<double> values);

/// Returns {"median", "min", "max"}.
nlohmann::json as_json(const Spread& spread);

/// Returns the speed of each measurement in MB/s (10^6 bytes).
std::vector<double> megabytes_per_second(double bytes, const std::vector<double>& seconds);

}  // namespace stria::tool
