// The median of repeated measurements with their range, as every result for programs gives it.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace stria::tool {

struct Spread {
  double median = 0, minimum = 0, maximum = 0;
};

/// All zero without values.
Spread spread(std::vector<double> values);

/// {"median", "min", "max"}.
nlohmann::json as_json(const Spread& spread);

/// The speed of each measurement in MB/s (10^6 bytes).
std::vector<double> megabytes_per_second(double bytes, const std::vector<double>& seconds);

}  // namespace stria::tool
