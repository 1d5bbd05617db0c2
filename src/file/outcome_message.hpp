// An outcome with what came of it, as one message.
#pragma once

#include <vector>

#include "stria/status.hpp"

namespace stria::file {

/// A message of `content`, or of the failure that stands in its place.
std::vector<std::byte> encode_outcome(const Status& status, const std::vector<std::byte>& content);
/// The content, or the failure. \pre message is from encode_outcome()
Result<std::vector<std::byte>> decode_outcome(const std::vector<std::byte>& message);

}  // namespace stria::file
