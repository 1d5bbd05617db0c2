// The page of the timeline without its data, as join.cmake makes it of this folder's modules: "@data@" stands where they go.
#pragma once

namespace stria::tool {

extern const char kViewerPage[];

}  // namespace stria::tool
