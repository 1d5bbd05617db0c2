// Complex numbers: for the engine pairs of numbers in a dimension of their own, in the file
// compounds of `r` and `i`, as h5py has them.
#pragma once

#include <cstdint>
#include <vector>

#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Makes of pairs what the file has: elements of twice the size, without the last dimension.
/// Anything else stays. kInvalidArgument where the numbers are no pairs of floating-point ones.
Status fold_complex(ElementSpec& element, std::vector<int64_t>& dims);
/// Does the same for a whole dataset, with its chunks.
Status fold_complex(DatasetSpec& spec);
/// Tells whether these are complex numbers of the file.
bool is_complex(const ElementSpec& element);
/// Does the reverse.
void unfold_complex(ElementSpec& element, std::vector<int64_t>& dims);

}  // namespace stria::container::h5
