// Describes what a build has without libzfp's header.
#include "container/chunks/filters/zfp_codec.hpp"

namespace stria::container {

Status ZfpCodec::available() {
  return Status(ErrorCode::kUnsupported,
                "ZFP is for builds that found libzfp (Debian: libzfp-dev); configure and build Stria again");
}

bool ZfpCodec::compress(const DatasetSpec&, std::span<const std::byte>, std::vector<std::byte>&) {
  return false;
}

Status ZfpCodec::decompress(const DatasetSpec&, std::span<const std::byte>, std::span<std::byte>) {
  return available();
}

}  // namespace stria::container
