#include "container/hdf5/spaces.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"

namespace stria::container::h5 {

Status total_bytes(std::span<const int64_t> dims, int64_t element_bytes, int64_t* bytes) {
  *bytes = 0;
  if (dims.size() > H5S_MAX_RANK) {
    return Status(ErrorCode::kInvalidArgument, "more than " + std::to_string(H5S_MAX_RANK) + " dimensions");
  }
  if (std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim < 0; })) {
    return Status(ErrorCode::kInvalidArgument, "a negative dimension");
  }
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) {
    return Status();
  }
  int64_t product = element_bytes;
  for (const int64_t dim : dims) {
    if (!checked_multiply(product, dim, &product)) {
      return Status(ErrorCode::kInvalidArgument, "2^63 bytes or more");
    }
  }
  *bytes = product;
  return Status();
}

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

}  // namespace stria::container::h5
