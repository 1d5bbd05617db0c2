// Checks bytes: in memory after a read, and in the file, without the layer that wrote it.
#pragma once

#include <string>

#include "layer/layer.hpp"

namespace stria::bench {

/// Fills the memory of a job with the values of its elements. Gaps get bytes of another kind.
void fill_memory(const Job& job, int round);

/// Clears the elements and marks the gaps of memory into which a read goes.
void clear_memory(const Job& job);

/// Says what is wrong with memory, gaps included, after a read of what `round` wrote.
/// Empty: nothing.
std::string check_memory(const Job& job, int round);

/// Says what is wrong with the elements of this job in the file, read by plain requests. Empty:
/// nothing. Throws stria::Error where the file can't be read.
std::string check_file(const Job& job, const std::string& path, const std::vector<int64_t>& places, int round);

}  // namespace stria::bench
