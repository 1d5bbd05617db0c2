#include "file/background/staging.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "base/out_of_memory.hpp"
#include "base/staging_pool.hpp"
#include "storage/messages.hpp"

namespace stria::file {

namespace {

constexpr int64_t kExtentBytes = StagingPool::kExtentBytes;
constexpr size_t kFirstSegments = 64;

}  // namespace

Staging::~Staging() {
  give_up();
}

void Staging::give_back(Extent& extent) noexcept {
  if (extent.memory != nullptr) {
    StagingPool::instance().give_back(std::exchange(extent.memory, nullptr));
    StagingPool::instance().uncount(extent.used_bytes);
  }
}

bool Staging::add_extent() {
  extents_.emplace_back();
  extents_.back().memory = StagingPool::instance().take();
  if (extents_.back().memory == nullptr) {
    extents_.pop_back();
    return false;
  }
  return true;
}

std::byte* Staging::room(int64_t bytes) noexcept {
  STRIA_ASSERT(bytes >= 0, bytes);
  const int64_t counted = bytes <= kExtentBytes ? StagingPool::instance().count(bytes, limit_bytes_) : 0;
  if (counted < bytes || !has_extent_for(bytes)) {
    StagingPool::instance().uncount(counted);
    return nullptr;
  }
  room_ = extents_.size() - 1;
  Extent& extent = extents_[room_];
  std::byte* const place = extent.memory + extent.used_bytes;
  extent.used_bytes += bytes;
  STRIA_CHECK(extent.used_bytes <= kExtentBytes, extent.used_bytes, bytes);
  return place;
}

// The last extent has this many bytes left, or there is another.
bool Staging::has_extent_for(int64_t bytes) noexcept {
  try {
    return (!extents_.empty() && extents_.back().used_bytes + bytes <= kExtentBytes) || add_extent();
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool Staging::is_in_room(const storage::WriteSegment& segment) const {
  const auto before = std::less<>();
  return !extents_.empty() && !before(segment.data, extents_[room_].memory) &&
         before(segment.data, extents_[room_].memory + kExtentBytes);
}

int64_t Staging::take(const storage::WriteSegment& segment) noexcept {
  int64_t taken = 0;
  try {
    if (is_in_room(segment)) {
      const Extent& extent = extents_[room_];
      STRIA_CHECK(segment.data + segment.bytes <= extent.memory + extent.used_bytes, segment.bytes, extent.used_bytes);
      note(extents_[room_], segment);
      taken = segment.bytes;
    }
    while (taken < segment.bytes) {
      const int64_t more = copy({segment.offset + taken, segment.data + taken, segment.bytes - taken});
      if (more == 0) {
        break;
      }
      taken += more;
    }
  } catch (const std::bad_alloc&) {
    // The caller writes the rest.
  }
  staged_bytes_ += taken;
  left_bytes_ += segment.bytes - taken;
  return taken;
}

// Copies what fits into the last extent, or another; returns the number of bytes.
int64_t Staging::copy(const storage::WriteSegment& segment) {
  if (!has_extent_for(1)) {
    return 0;
  }
  Extent& extent = extents_.back();
  const storage::WriteSegment wanted{segment.offset, extent.memory + extent.used_bytes,
                                     std::min(segment.bytes, kExtentBytes - extent.used_bytes)};
  reserve_for(extent, wanted);
  const int64_t bytes = StagingPool::instance().count(wanted.bytes, limit_bytes_);
  if (bytes > 0) {
    std::memcpy(extent.memory + extent.used_bytes, segment.data, static_cast<size_t>(bytes));
    extent.used_bytes += bytes;
    note(extent, {wanted.offset, wanted.data, bytes});
  }
  return bytes;
}

bool Staging::goes_on(const Extent& extent, const storage::WriteSegment& segment) {
  if (extent.segments.empty()) {
    return false;
  }
  const storage::WriteSegment& last = extent.segments.back();
  return last.offset + last.bytes == segment.offset && last.data + last.bytes == segment.data;
}

// Room is reserved so that note() can't fail after the bytes have been counted.
void Staging::reserve_for(Extent& extent, const storage::WriteSegment& segment) {
  if (!goes_on(extent, segment) && extent.segments.size() == extent.segments.capacity()) {
    extent.segments.reserve(std::max(kFirstSegments, 2 * extent.segments.size()));
  }
}

void Staging::note(Extent& extent, const storage::WriteSegment& segment) {
  reserve_for(extent, segment);
  if (goes_on(extent, segment)) {
    extent.segments.back().bytes += segment.bytes;
  } else {
    extent.segments.push_back(segment);
  }
}

// A piece is of one extent, so that its memory goes when it is written.
Result<int64_t> Staging::write_piece(storage::File& file, int64_t most_bytes) {
  if (is_written()) {
    return 0;
  }
  STRIA_ASSERT(most_bytes > 0, most_bytes);
  Extent& extent = extents_[next_extent_];
  std::vector<storage::WriteSegment> some;
  int64_t bytes = 0;
  const Status written = or_out_of_memory([&] {
    while (next_segment_ < extent.segments.size() && bytes < most_bytes) {
      storage::WriteSegment& rest = extent.segments[next_segment_];
      const int64_t part = std::min(rest.bytes, most_bytes - bytes);
      some.push_back({rest.offset, rest.data, part});
      bytes += part;
      rest = {rest.offset + part, rest.data + part, rest.bytes - part};
      next_segment_ += rest.bytes == 0 ? 1 : 0;
    }
    return some.empty() ? Status() : file.write(some);
  });
  if (!written.ok()) {
    give_up();
    return written;
  }
  if (next_segment_ == extent.segments.size()) {
    give_back(extent);
    ++next_extent_;
    next_segment_ = 0;
  }
  return bytes;
}

void Staging::give_up() noexcept {
  for (Extent& extent : extents_) {
    give_back(extent);
  }
  next_extent_ = extents_.size();
}

storage::Capabilities staged_capabilities(storage::Capabilities capabilities) {
  capabilities.native_types = false;
  capabilities.direct_align_bytes = 0;
  capabilities.reserving_pays = false;
  capabilities.parallel_writes = true;
  capabilities.asynchronous = false;
  return capabilities;
}

StagedFile::StagedFile(storage::File& file, Staging& staging)
    : file_(file), staging_(staging), capabilities_(staged_capabilities(file.capabilities())) {}

Status StagedFile::write(std::span<const storage::WriteSegment> segments) {
  for (const storage::WriteSegment& segment : segments) {
    const int64_t taken = staging_.take(segment);
    if (taken < segment.bytes) {
      const storage::WriteSegment rest{segment.offset + taken, segment.data + taken, segment.bytes - taken};
      STRIA_RETURN_IF_ERROR(file_.write(std::span(&rest, 1)));
    }
  }
  return Status();
}

Result<int64_t> StagedFile::read(std::span<const storage::ReadSegment>) {
  return Status(ErrorCode::kUnsupported, storage::describe("read", path()) + ": its writes are staged");
}

}  // namespace stria::file
