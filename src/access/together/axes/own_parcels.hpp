// Describes what a rank has for each column of the grid: its streams cut at the columns' ends.
#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "access/request/request.hpp"
#include "access/together/axes/axes_grid.hpp"
#include "access/together/domains/description.hpp"
#include "access/together/domains/file_domain.hpp"

namespace stria::access {

/// A rank's part of one column.
struct OwnParcel {
  std::vector<Overlap> overlaps;  ///< in the order of their bytes in the parcel
  std::vector<std::byte> description;
  int64_t bytes = 0;
};

class OwnParcels {
 public:
  /// What is passed must outlive this. May throw std::bad_alloc.
  OwnParcels(std::span<const Lane> lanes, const FileDomains& domains, const AxesGrid& grid);

  const std::map<int, OwnParcel>& by_column() const { return by_column_; }

 private:
  OwnParcel cut(std::span<const Lane> lanes, const FileDomains& domains, std::pair<int, int> aggregators) const;

  std::vector<LaneDescription> mine_;
  std::map<int, OwnParcel> by_column_;
};

}  // namespace stria::access
