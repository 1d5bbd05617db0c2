#include "mpiio/transfer/staged_memory.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "base/staging_pool.hpp"
#include "mpiio/transfer/memory_stream.hpp"

namespace stria::mpiio {

struct StagingExtent {
  std::byte* memory = nullptr;
  int64_t used_bytes = 0;

  StagingExtent() = default;
  StagingExtent(const StagingExtent&) = delete;
  StagingExtent& operator=(const StagingExtent&) = delete;
  ~StagingExtent() {
    if (memory != nullptr) {
      StagingPool::instance().give_back(memory);
    }
  }
};

namespace {

constexpr int64_t kAlignBytes = 64;

// The extent that has room, as long as a write uses it.
struct Open {
  std::mutex mutex;
  std::weak_ptr<StagingExtent> extent;
};

Open& open_extent() {
  static Open* open = new Open;
  return *open;
}

// Returns a piece of at most so many bytes; without memory where there is none.
StagedMemory::Piece take_piece(int64_t bytes) {
  Open& open = open_extent();
  const std::lock_guard lock(open.mutex);
  auto extent = open.extent.lock();
  if (extent == nullptr || extent->used_bytes >= StagingPool::kExtentBytes) {
    extent = std::make_shared<StagingExtent>();
    extent->memory = StagingPool::instance().take();
    if (extent->memory == nullptr) {
      return {};
    }
    open.extent = extent;
  }
  StagedMemory::Piece piece{extent, extent->memory + extent->used_bytes,
                            std::min(bytes, StagingPool::kExtentBytes - extent->used_bytes)};
  extent->used_bytes = align_up(extent->used_bytes + piece.bytes, kAlignBytes);
  return piece;
}

}  // namespace

std::unique_ptr<StagedMemory> StagedMemory::pack(std::byte* memory, const Datatype& type, int64_t limit_bytes) noexcept {
  try {
    std::unique_ptr<StagedMemory> made(new StagedMemory);
    made->counted_bytes_ = StagingPool::instance().count(type.size(), limit_bytes);
    return made->counted_bytes_ == type.size() && made->fill(memory, type) ? std::move(made) : nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool StagedMemory::fill(std::byte* memory, const Datatype& type) {
  if (type.size() == 0) {
    return true;
  }
  auto stream = MemoryStream::create(memory, type, {0});
  for (int64_t done = 0; stream.ok() && done < type.size();) {
    const Piece piece = take_piece(type.size() - done);
    if (piece.memory == nullptr) {
      return false;
    }
    pieces_.push_back(piece);
    const access::StreamPart part{.stream_id = 0, .begin = done, .end = done + piece.bytes, .packed = piece.memory};
    (*stream)->pack({&part, 1});
    done += piece.bytes;
  }
  return stream.ok();
}

StagedMemory::~StagedMemory() {
  StagingPool::instance().uncount(counted_bytes_);
}

void StagedMemory::drop_front() {
  STRIA_CHECK(!pieces_.empty() && pieces_.front().bytes <= counted_bytes_, pieces_.size(), counted_bytes_);
  StagingPool::instance().uncount(pieces_.front().bytes);
  counted_bytes_ -= pieces_.front().bytes;
  pieces_.pop_front();
}

}  // namespace stria::mpiio
