// Decoding what the filter szip has made, where its library is there.
//
// Problem: libhdf5 takes what szip makes of a chunk for all of it, though its codes may end early.
// Method: the library that libhdf5 itself uses is loaded, and says how much it makes. What is used
// of it has been the same since its first version, so that no header is needed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace stria::container::h5 {

/// Returns how many bytes of `out` the codes have filled, by the filter's values as the file has
/// them: the mask of options, pixels of a block, bits of a pixel, pixels of a line. None where the
/// library isn't there, 0 where it finds something wrong.
std::optional<size_t> decode_szip(std::span<const unsigned> values, std::span<const std::byte> codes, std::span<std::byte> out);

}  // namespace stria::container::h5
