#include "container/hdf5/read/chunks/szip.hpp"

#include "base/optional_library.hpp"

namespace stria::container::h5 {

namespace {

struct Parameters {
  int options = 0;
  int bits_per_pixel = 0;
  int pixels_per_block = 0;
  int pixels_per_line = 0;
};

struct Functions {
  /// It returns 0 where all went well. `filled` is the room in `out` before.
  int (*decompress)(void* out, size_t* filled, const void* codes, size_t code_bytes, Parameters* parameters) = nullptr;
  bool complete = false;
};

const Functions& functions() {
  static const Functions loaded = [] {
    OptionalLibrary library("libsz.so.2", "reading chunks that pass szip");
    Functions found;
    library.find("SZ_BufftoBuffDecompress", found.decompress);
    found.complete = library.status().ok();
    return found;
  }();
  return loaded;
}

}  // namespace

std::optional<size_t> decode_szip(std::span<const unsigned> values, std::span<const std::byte> codes,
                                  std::span<std::byte> out) {
  constexpr size_t kValues = 4;
  if (!functions().complete) {
    return std::nullopt;
  }
  if (values.size() != kValues) {
    return 0;
  }
  Parameters parameters{.options = static_cast<int>(values[0]),
                        .bits_per_pixel = static_cast<int>(values[2]),
                        .pixels_per_block = static_cast<int>(values[1]),
                        .pixels_per_line = static_cast<int>(values[3])};
  size_t filled = out.size();
  const bool done = functions().decompress(out.data(), &filled, codes.data(), codes.size(), &parameters) == 0;
  return done && filled <= out.size() ? filled : 0;
}

}  // namespace stria::container::h5
