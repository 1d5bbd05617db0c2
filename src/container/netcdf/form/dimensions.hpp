// The dimensions of a new file, shared by its variables: named as given, or by their lengths.
#pragma once

#include <string>
#include <vector>

#include "container/netcdf/form/header.hpp"

namespace stria::container::netcdf {

class Dimensions {
 public:
  /// Returns the dimensions of a dataset, of which those that aren't there yet are added.
  ///
  /// A dimension without a name is called "dim_LENGTH"; the second of a dataset with the same
  /// length "dim_LENGTH_2", since programs want the dimensions of a variable to differ. The
  /// unlimited one is called "record". kInvalidArgument names the dataset: a length of zero, or a
  /// name that has another length already.
  Result<std::vector<int>> of(const DatasetSpec& spec, const Shape& shape);

  const std::vector<Dimension>& list() const { return list_; }
  /// Returns the length of the unlimited dimension; 0 when there is none.
  int64_t record_count() const;
  /// Returns the most bytes that they take in a header.
  int64_t bytes_max() const;

 private:
  Result<int> find_or_add(const DatasetSpec& spec, Dimension dimension);

  std::vector<Dimension> list_;
};

}  // namespace stria::container::netcdf
