// Describes what a chunked dataset says of its chunks, through libhdf5.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

#include "container/spec.hpp"

namespace stria::container::h5 {

/// Returns the cut of the dataset with the creation properties `creation`, and in `names` what its
/// chunks pass. The spec has its fill value. Sets `decodable` when chunks pass nothing but the
/// filters that we know, in their usual order, and what isn't there reads as the fill value.
Result<Chunking> chunking_of(hid_t creation, const DatasetSpec& spec, std::string* names, bool* decodable);

/// Returns one element that reads for those which nobody has written, as the file has it; empty for
/// zeros. Elements of the dataset are numbers.
Result<std::vector<std::byte>> fill_value_of(hid_t dataset, const ElementSpec& element);

}  // namespace stria::container::h5
