#include "container/chunks/libdeflate.hpp"

#include "base/optional_library.hpp"

namespace stria::container {

namespace {

struct Functions {
  void* (*alloc)() = nullptr;
  void (*free)(void* decompressor) = nullptr;
  /// It returns 0 where all went well.
  int (*decompress)(void* decompressor, const void* in, size_t in_bytes, void* out, size_t out_bytes, size_t* filled) = nullptr;
  bool complete = false;
};

const Functions& functions() {
  static const Functions loaded = [] {
    OptionalLibrary library("libdeflate.so.0", "inflating faster");
    Functions found;
    library.find("libdeflate_alloc_decompressor", found.alloc);
    library.find("libdeflate_free_decompressor", found.free);
    library.find("libdeflate_zlib_decompress", found.decompress);
    found.complete = library.status().ok();
    return found;
  }();
  return loaded;
}

}  // namespace

Libdeflate::~Libdeflate() {
  if (decompressor_ != nullptr) {
    functions().free(decompressor_);
  }
}

std::optional<size_t> Libdeflate::inflate(std::span<const std::byte> stored, std::span<std::byte> out) {
  if (decompressor_ == nullptr && functions().complete) {
    decompressor_ = functions().alloc();
  }
  size_t filled = 0;
  const bool well = decompressor_ != nullptr &&
                    functions().decompress(decompressor_, stored.data(), stored.size(), out.data(), out.size(), &filled) == 0;
  return well ? std::optional(filled) : std::nullopt;
}

}  // namespace stria::container
