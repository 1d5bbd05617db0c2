// The bytes of a file in memory, which has pages only where something was written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>

namespace stria::storage {

/// A file's content; holes read as zero. Copies share pages until one of them is written to, so
/// that an older state costs only a map. Writing n bytes costs O(n + pages · log pages). A new page
/// is zeroed as a whole.
class SparseBytes {
 public:
  static constexpr int64_t kPageBytes = 64 << 10;

  int64_t size() const { return size_; }
  void write(int64_t offset, const std::byte* data, int64_t bytes);
  /// Copies the bytes before the end; returns their number.
  int64_t read(int64_t offset, std::byte* data, int64_t bytes) const;
  /// Cuts, or extends with a hole.
  void resize(int64_t bytes);

  /// Returns what a power loss may leave when `after` was written over `before` without a sync:
  /// each page comes from one of them, at random.
  static SparseBytes mix(const SparseBytes& before, const SparseBytes& after, std::mt19937_64& random);

 private:
  using Page = std::array<std::byte, static_cast<size_t>(kPageBytes)>;
  Page& page_to_write(int64_t index);

  std::map<int64_t, std::shared_ptr<Page>> pages_;
  int64_t size_ = 0;
};

}  // namespace stria::storage
