// Headers of datasets whose data lie in other files, as those of plain datasets.
//
// Problem: the message of a virtual layout is 4 bytes shorter than that of a plain one, so that the
// header has no room for it.
// Method: the layout message and a neighbour make room for a continuation message. The block that
// it names lies where the file has nothing; it has the neighbour, and the plain layout.
#pragma once

#include <cstdint>

#include "base/byte_range.hpp"
#include "container/hdf5/copy/overlaid_file.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Says where a header is, what it shall say, and where its additional block goes.
struct PlainHeader {
  int64_t header = 0;
  ByteRange data;     ///< where the data are, in the overlaid file
  int64_t block = 0;  ///< a block of less than kPlainBlockBytes bytes
};
inline constexpr int64_t kPlainBlockBytes = int64_t{1} << 17;

/// Changes the header in the overlaid file, whose addresses are its offsets. kUnsupported where it
/// has no such layout, or none in its first block.
Status make_plain(OverlaidFile& file, const PlainHeader& plain);

}  // namespace stria::container::h5
