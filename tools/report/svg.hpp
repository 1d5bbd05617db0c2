// The report's pictures, as SVG in the page.
#pragma once

#include <string>

#include "report/run_digest.hpp"

namespace stria::tool {

/// `text` with the characters that mean something in HTML replaced.
std::string html(const std::string& text);

/// Returns one bar: parts of the time in I/O, with a legend in words.
std::string breakdown_picture(const RunDigest& run);
/// Returns a column for each rank, or for each group of neighbours when there are many: seconds in
/// I/O, split by phase.
std::string rank_picture(const RunDigest& run);
/// Reads and writes by size of their pieces.
std::string size_picture(const RunDigest& run);

}  // namespace stria::tool
