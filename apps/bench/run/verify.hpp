// Whether bytes are what they must be: in memory after a read, and in the file past the layer
// that wrote it.
#pragma once

#include <string>

#include "layer/layer.hpp"

namespace stria::bench {

/// Fills the memory of a job with the values of its elements. Gaps get bytes of another kind.
void fill_memory(const Job& job, int round);

/// Clears the elements and marks the gaps of memory that is to be read into.
void clear_memory(const Job& job);

/// What is wrong with memory after a read of what `round` wrote, gaps too; empty: nothing.
std::string check_memory(const Job& job, int round);

/// What is wrong with the elements of this job in the file, read by plain requests; empty: nothing.
/// Throws stria::Error where it can't be read.
std::string check_file(const Job& job, const std::string& path, const std::vector<int64_t>& places, int round);

}  // namespace stria::bench
