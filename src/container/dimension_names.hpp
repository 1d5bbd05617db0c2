// Names of dimensions: those that a program gives, and those that it leaves out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::container {

/// Returns the name of dimension `index` of a dataset of these lengths: the one that is given, else
/// `prefix` and one made of the length, which no other of the dataset's dimensions has.
std::string dimension_name(const DatasetSpec& spec, std::span<const int64_t> lengths, size_t index, const std::string& prefix);

/// The dimensions of a file whose names are paths, and the datasets that may be their coordinates.
class NamedDimensions {
 public:
  /// The length of a dimension whose rows are still to come.
  static constexpr int64_t kNoLimit = -1;

  /// Fills in names that are left out. kInvalidArgument when they aren't as many as `lengths`, when
  /// one can't be a path, or leads to a group that the dataset is not in; or when one without a
  /// limit has none.
  static Status complete(DatasetSpec& spec, std::span<const int64_t> lengths);
  /// Hears of a dataset. kInvalidArgument when a dimension of its has another length elsewhere, or
  /// when a dataset has the name of a dimension that it can't be the coordinates of.
  Status add(const DatasetSpec& spec, std::span<const int64_t> lengths);

 private:
  Status check_coordinates(const std::string& path) const;

  /// Says what a dataset is as the coordinates of the dimension of its name.
  struct Coordinates {
    int64_t length = -2;     // the length of its one dimension; -2: it has several, or none
    bool is_of_own = false;  // whether that dimension has its name, or none
  };
  std::unordered_map<std::string, int64_t> length_of_;
  std::unordered_map<std::string, Coordinates> datasets_;
};

}  // namespace stria::container
