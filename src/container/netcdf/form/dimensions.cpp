#include "container/netcdf/form/dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "container/netcdf/form/names.hpp"

namespace stria::container::netcdf {

namespace {

Status refused(const DatasetSpec& spec, const std::string& why) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': {}", spec.path, why));
}

// How many dimensions before this one have the same length and no name either.
int64_t equals_before(const DatasetSpec& spec, const Shape& shape, size_t index) {
  int64_t count = 0;
  for (size_t i = spec.unlimited ? 1 : 0; i < index; ++i) {
    const bool named = i < spec.dimension_names.size() && !spec.dimension_names[i].empty();
    count += !named && shape.lengths[i] == shape.lengths[index] ? 1 : 0;
  }
  return count;
}

std::string name_of(const DatasetSpec& spec, const Shape& shape, size_t index) {
  if (index < spec.dimension_names.size() && !spec.dimension_names[index].empty()) {
    return spec.dimension_names[index];
  }
  if (index == 0 && spec.unlimited) {
    return "record";
  }
  // Those of the library's own tables can't be in the way of a name that is given.
  const std::string name = fmt::format("{}dim_{}", is_own(spec.path) ? kOwnVariablePrefix : "", shape.lengths[index]);
  const int64_t before = equals_before(spec, shape, index);
  return before == 0 ? name : fmt::format("{}_{}", name, before + 1);
}

}  // namespace

Result<int> Dimensions::find_or_add(const DatasetSpec& spec, Dimension dimension) {
  const auto found = std::find_if(list_.begin(), list_.end(), [&](const Dimension& one) { return one.name == dimension.name; });
  if (found != list_.end()) {
    if (found->length == dimension.length && found->unlimited == dimension.unlimited) {
      return static_cast<int>(found - list_.begin());
    }
    return refused(spec, fmt::format("its dimension '{}' has a length of {}{}, but that of another dataset has {}{}",
                                     dimension.name, dimension.length, dimension.unlimited ? ", unlimited" : "", found->length,
                                     found->unlimited ? ", unlimited" : ""));
  }
  STRIA_RETURN_IF_ERROR(check_name("dimension", dimension.name));
  const auto other = std::find_if(list_.begin(), list_.end(), [](const Dimension& one) { return one.unlimited; });
  if (dimension.unlimited && other != list_.end()) {
    return refused(spec, fmt::format("a classic netCDF file has one unlimited dimension, which is '{}' already", other->name));
  }
  if (!dimension.unlimited && dimension.length == 0) {
    return refused(spec, "a classic netCDF file has no dimension of length 0, except the unlimited one");
  }
  list_.push_back(std::move(dimension));
  return static_cast<int>(list_.size()) - 1;
}

Result<std::vector<int>> Dimensions::of(const DatasetSpec& spec, const Shape& shape) {
  std::vector<int> numbers;
  for (size_t i = 0; i < shape.lengths.size(); ++i) {
    Dimension dimension{name_of(spec, shape, i), shape.lengths[i], i == 0 && spec.unlimited};
    STRIA_ASSIGN_OR_RETURN(const int number, find_or_add(spec, std::move(dimension)));
    numbers.push_back(number);
  }
  return numbers;
}

int64_t Dimensions::record_count() const {
  const auto unlimited = std::find_if(list_.begin(), list_.end(), [](const Dimension& one) { return one.unlimited; });
  return unlimited == list_.end() ? 0 : unlimited->length;
}

int64_t Dimensions::bytes_max() const {
  int64_t bytes = 0;
  for (const Dimension& dimension : list_) {
    bytes += dimension_bytes_max(dimension.name);
  }
  return bytes;
}

}  // namespace stria::container::netcdf
