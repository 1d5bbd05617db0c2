// The bytes of a write, packed into memory of the library, so that the program gets its own back
// before they are written.
//
// Problem: programs begin thousands of short writes, or few that are long.
// Method: pieces of the process's staging extents (base/staging_pool.hpp). Writes that are under
// way at a time share extents; whichever ends last gives one back.
// Cost: one pass of packing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "stria/datatype.hpp"

namespace stria::mpiio {

struct StagingExtent;

class StagedMemory {
 public:
  /// A stretch of the packed bytes.
  struct Piece {
    std::shared_ptr<StagingExtent> extent;
    std::byte* memory = nullptr;
    int64_t bytes = 0;
  };

  /// Packs memory of that type; null where the process may not stage so many bytes more, or has no
  /// memory for them. Any thread.
  static std::unique_ptr<StagedMemory> pack(std::byte* memory, const Datatype& type, int64_t limit_bytes) noexcept;
  ~StagedMemory();
  StagedMemory(const StagedMemory&) = delete;
  StagedMemory& operator=(const StagedMemory&) = delete;

  bool empty() const { return pieces_.empty(); }
  /// Returns the first of the bytes that are left.
  const Piece& front() const { return pieces_.front(); }
  /// Gives their memory back.
  void drop_front();

 private:
  StagedMemory() = default;
  bool fill(std::byte* memory, const Datatype& type);

  std::deque<Piece> pieces_;
  int64_t counted_bytes_ = 0;
};

}  // namespace stria::mpiio
