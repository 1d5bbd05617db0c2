// Describes how a dataset is to be cut into chunks, and what these are to pass.
#pragma once

#include "container/spec.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// Sets the chunking of a spec whose element and dims are known, if the options ask for some.
/// kInvalidArgument where it can't have that, kUnsupported where a filter's library isn't there;
/// both name the dataset.
Status set_chunking(const DatasetOptions& options, container::DatasetSpec& spec);

}  // namespace stria::file
