#include "container/dimension_names.hpp"

#include <vector>

#include "container/object_path.hpp"

namespace stria::container {

namespace {

Status refused(const std::string& path, const std::string& why) {
  return Status(ErrorCode::kInvalidArgument, "dataset '" + path + "': " + why);
}

std::string text_of(int64_t length) {
  return length == NamedDimensions::kNoLimit ? "no limit" : "a length of " + std::to_string(length);
}

bool is_given(const DatasetSpec& spec, size_t index) {
  return index < spec.dimension_names.size() && !spec.dimension_names[index].empty();
}

// Returns how many dimensions before this one have the same length and no name either.
int64_t equals_before(const DatasetSpec& spec, std::span<const int64_t> lengths, size_t index) {
  int64_t count = 0;
  for (size_t i = spec.unlimited ? 1 : 0; i < index; ++i) {
    count += !is_given(spec, i) && lengths[i] == lengths[index] ? 1 : 0;
  }
  return count;
}

}  // namespace

std::string dimension_name(const DatasetSpec& spec, std::span<const int64_t> lengths, size_t index, const std::string& prefix) {
  if (is_given(spec, index)) {
    return spec.dimension_names[index];
  }
  const std::string name = prefix + "dim_" + std::to_string(lengths[index]);
  const int64_t before = equals_before(spec, lengths, index);
  return before == 0 ? name : name + "_" + std::to_string(before + 1);
}

Status NamedDimensions::complete(DatasetSpec& spec, std::span<const int64_t> lengths) {
  if (spec.dimension_names.empty()) {
    return Status();
  }
  if (spec.dimension_names.size() != lengths.size()) {
    return refused(spec.path, "it has as many dimensions as its shape, but other names of them");
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == kNoLimit && !is_given(spec, i)) {
      return refused(spec.path, "its first dimension, whose rows are still to come, needs a name");
    }
    const std::string given = dimension_name(spec, lengths, i, "");
    const auto name = normal_path(given);
    if (!name.ok() || name->empty()) {
      return refused(spec.path, "'" + given + "' can't be the name of a dimension");
    }
    // Readers of netCDF look for dimensions in the dataset's group and those above.
    const std::string group = name->substr(0, name->rfind('/') + 1);
    if (name->find('/') != std::string::npos && !spec.path.starts_with(group)) {
      return refused(spec.path, "its dimension '" + *name + "' is neither in its group nor in one above");
    }
    names.push_back(*name);
  }
  spec.dimension_names = std::move(names);
  return Status();
}

Status NamedDimensions::check_coordinates(const std::string& path) const {
  const auto dimension = length_of_.find(path);
  const auto dataset = datasets_.find(path);
  if (dimension == length_of_.end() || dataset == datasets_.end()) {
    return Status();
  }
  const bool fits = dataset->second.length == dimension->second && dataset->second.is_of_own;
  return fits ? Status()
              : refused(path, "it has the name of a dimension of " + text_of(dimension->second) +
                                  ", and must have this dimension alone");
}

Status NamedDimensions::add(const DatasetSpec& spec, std::span<const int64_t> lengths) {
  for (size_t i = 0; i < spec.dimension_names.size(); ++i) {
    const auto [known, is_new] = length_of_.emplace(spec.dimension_names[i], lengths[i]);
    if (known->second != lengths[i]) {
      return refused(spec.path, "its dimension '" + spec.dimension_names[i] + "' has " + text_of(lengths[i]) +
                                    ", but that of another dataset has " +
                                    (known->second == kNoLimit ? "no limit" : std::to_string(known->second)));
    }
  }
  const std::vector<std::string>& names = spec.dimension_names;
  datasets_[spec.path] = {.length = lengths.size() == 1 ? lengths[0] : -2,
                          .is_of_own = names.empty() || (names.size() == 1 && names[0] == spec.path)};
  if (length_of_.empty()) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(check_coordinates(spec.path));
  for (const std::string& name : spec.dimension_names) {
    STRIA_RETURN_IF_ERROR(check_coordinates(name));
  }
  return Status();
}

}  // namespace stria::container
