#include "spread.hpp"

#include <algorithm>

namespace stria::tool {

Spread spread(std::vector<double> values) {
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

nlohmann::json as_json(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.minimum}, {"max", spread.maximum}};
}

std::vector<double> megabytes_per_second(double bytes, const std::vector<double>& seconds) {
  std::vector<double> rates;
  for (double one : seconds) {
    rates.push_back(bytes / one / 1e6);
  }
  return rates;
}

}  // namespace stria::tool
