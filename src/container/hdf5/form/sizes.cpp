#include "container/hdf5/form/sizes.hpp"

#include <algorithm>
#include <string>

#include "base/checked.hpp"

namespace stria::container::h5 {

Status total_bytes(std::span<const int64_t> dims, int64_t element_bytes, int64_t* bytes) {
  *bytes = 0;
  if (dims.size() > kMostDimensions) {
    return Status(ErrorCode::kInvalidArgument, "more than " + std::to_string(kMostDimensions) + " dimensions");
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

}  // namespace stria::container::h5
