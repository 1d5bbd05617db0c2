#include "access/together/axes/own_parcels.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/check.hpp"

namespace stria::access {

namespace {

/// A part of one stream, and that part as a stream of its own.
struct Fragment {
  Overlap overlap;
  Stream stream;
  int64_t first = 0;  // offset in the file
};

std::vector<Fragment> fragments_of(std::span<const Overlap> overlaps) {
  std::vector<Fragment> fragments;
  for (const Overlap& overlap : overlaps) {
    Stream part = *overlap.stream;
    part.skip_bytes += overlap.begin;
    part.bytes = overlap.end - overlap.begin;
    const int64_t first = hull_of(part).begin;
    fragments.push_back({overlap, std::move(part), first});
  }
  // Streams that lie between each other's pieces may begin in another order where they are cut.
  std::stable_sort(fragments.begin(), fragments.end(), [](const Fragment& a, const Fragment& b) { return a.first < b.first; });
  return fragments;
}

}  // namespace

OwnParcels::OwnParcels(std::span<const Lane> lanes, const FileDomains& domains, const AxesGrid& grid) {
  std::set<int> columns;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].streams.empty()) {
      continue;
    }
    const LaneDescription& lane = mine_.emplace_back(static_cast<int>(i), lanes[i].streams);
    for (const ByteRange hull : lane.hulls) {
      const auto [first, end] = domains.around(lane.lane, hull);
      for (int column = first == end ? 0 : grid.column_of(first); first < end && column <= grid.column_of(end - 1); ++column) {
        columns.insert(column);
      }
    }
  }
  for (const int column : columns) {
    OwnParcel parcel = cut(lanes, domains, grid.aggregators_of(column));
    if (parcel.bytes > 0) {
      by_column_.emplace(column, std::move(parcel));
    }
  }
  // What this rank asked to move lies in exactly one parcel.
  STRIA_ASSERT(std::accumulate(by_column_.begin(), by_column_.end(), int64_t{0},
                               [](int64_t sum, const auto& each) { return sum + each.second.bytes; }) == total_bytes(lanes),
               by_column_.size(), total_bytes(lanes), columns.size());
}

OwnParcel OwnParcels::cut(std::span<const Lane> lanes, const FileDomains& domains, std::pair<int, int> aggregators) const {
  OwnParcel parcel;
  std::vector<Lane> cut_lanes(lanes.size());
  std::vector<int> chosen;
  std::vector<Overlap> found;
  for (const LaneDescription& lane : mine_) {
    found.clear();
    overlaps(lane, domains.stretch(aggregators.first, aggregators.second, lane.lane), found);
    for (Fragment& fragment : fragments_of(found)) {
      parcel.overlaps.push_back(fragment.overlap);
      parcel.bytes += fragment.stream.size();
      cut_lanes[static_cast<size_t>(lane.lane)].streams.push_back(std::move(fragment.stream));
    }
    if (!found.empty()) {
      chosen.push_back(lane.lane);
    }
  }
  encode_description(cut_lanes, chosen, parcel.description);
  return parcel;
}

}  // namespace stria::access
