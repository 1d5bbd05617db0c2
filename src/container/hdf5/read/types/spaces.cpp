#include "container/hdf5/read/types/spaces.hpp"

#include <algorithm>

namespace stria::container::h5 {

Result<Id> make_space(const std::vector<int64_t>& dims) {
  const std::vector<hsize_t> extents(dims.begin(), dims.end());
  Id space(dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), extents.data(), nullptr));
  if (!space.valid()) {
    return last_error(ErrorCode::kInvalidArgument, "dimensions that HDF5 can't have");
  }
  return space;
}

Result<std::vector<int64_t>> dims_of(hid_t space) {
  const int rank = H5Sget_simple_extent_ndims(space);
  hsize_t extents[H5S_MAX_RANK] = {};
  if (rank < 0 || rank > H5S_MAX_RANK || H5Sget_simple_extent_dims(space, extents, nullptr) < 0) {
    return last_error(ErrorCode::kCorrupted, "its dimensions can't be read");
  }
  if (H5Sget_simple_extent_type(space) == H5S_NULL) {
    return std::vector<int64_t>{0};
  }
  if (std::any_of(extents, extents + rank, [](hsize_t extent) { return extent > hsize_t{INT64_MAX}; })) {
    return Status(ErrorCode::kUnsupported, "a dimension of 2^63 or more");
  }
  return std::vector<int64_t>(extents, extents + rank);
}

bool is_extendable(hid_t space) {
  hsize_t extents[H5S_MAX_RANK] = {};
  hsize_t limits[H5S_MAX_RANK] = {};
  const int rank = H5Sget_simple_extent_dims(space, extents, limits);
  return rank > 0 && limits[0] == H5S_UNLIMITED && std::equal(extents + 1, extents + rank, limits + 1);
}

}  // namespace stria::container::h5
