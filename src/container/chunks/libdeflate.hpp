// Inflating by libdeflate, where it is installed.
//
// Problem: to read chunks is to inflate them, for two thirds of the time.
// Method: libdeflate, which inflates 1.4 times as fast as ISA-L. It is loaded when a chunk is read.
// What is used of it has been the same since its first version, so that no header is needed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace stria::container {

class Libdeflate {
 public:
  Libdeflate() = default;
  ~Libdeflate();
  Libdeflate(const Libdeflate&) = delete;
  Libdeflate& operator=(const Libdeflate&) = delete;

  /// Returns how many bytes of `out` a stream in zlib's format has filled; none where libdeflate
  /// isn't there or finds something wrong, and the caller finds out what.
  std::optional<size_t> inflate(std::span<const std::byte> stored, std::span<std::byte> out);

 private:
  void* decompressor_ = nullptr;  // once it is used
};

}  // namespace stria::container
