// The page of the timeline without its data, as join.cmake makes it from this folder's modules.
// "@data@" marks the place for the data.
#pragma once

namespace stria::tool {

extern const char kViewerPage[];

}  // namespace stria::tool
