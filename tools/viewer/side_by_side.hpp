// Two timelines in one page, one above the other.
#pragma once

#include <string>

namespace stria::tool {

/// One HTML page of two others, each in a frame of its own; when one is moved or zoomed, the other follows by as much.
std::string side_by_side_page(const std::string& first, const std::string& second);

}  // namespace stria::tool
