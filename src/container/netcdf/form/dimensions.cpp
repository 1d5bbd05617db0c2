#include "container/netcdf/form/dimensions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "container/dimension_names.hpp"
#include "container/netcdf/form/names.hpp"

namespace stria::container::netcdf {

namespace {

Status refused(const DatasetSpec& spec, const std::string& why) {
  return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': {}", spec.path, why));
}

std::string name_of(const DatasetSpec& spec, const Shape& shape, size_t index) {
  const bool is_given = index < spec.dimension_names.size() && !spec.dimension_names[index].empty();
  if (index == 0 && spec.unlimited && !is_given) {
    return "record";
  }
  // Those of the library's own tables can't be in the way of a name that is given.
  return dimension_name(spec, shape.lengths, index, is_own(spec.path) ? kOwnVariablePrefix : "");
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
