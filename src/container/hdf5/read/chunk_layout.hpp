// What a chunked dataset says of its chunks, through libhdf5.
#pragma once

#include <hdf5.h>

#include <string>

#include "container/spec.hpp"

namespace stria::container::h5 {

/// The cut of the dataset with the creation properties `creation`, and in `names` what its chunks
/// pass. Sets `decodable` when chunks pass nothing but the filters that we know, in their usual
/// order, and what isn't there reads as zeros.
Result<Chunking> chunking_of(hid_t creation, const DatasetSpec& spec, std::string* names, bool* decodable);

}  // namespace stria::container::h5
