#include "file/move/put_guard.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "base/hash.hpp"
#include "base/mapped.hpp"
#include "base/out_of_memory.hpp"
#include "datatype/cursor.hpp"

namespace stria::file {

namespace {

constexpr int64_t kCacheLineBytes = 64;
constexpr int64_t kLargestNumberBytes = 8;  // the largest
constexpr int64_t kCopyAlignmentBytes = 16;
constexpr int64_t kFirstBlockBytes = 16 << 10;
constexpr int64_t kUsualBlockBytes = 1 << 20;

// Hashes bytes from many places together. They are far apart, each in a page of its own, so that
// memory is asked for the bytes of several places before those of the first are taken.
class SampleHash {
 public:
  void add(const std::byte* from, int64_t bytes) {
    __builtin_prefetch(from);
    asked_[asked_count_++] = {from, static_cast<size_t>(bytes)};
    if (asked_count_ == asked_.size()) {
      take();
    }
  }
  uint64_t digest() {
    take();
    fold();
    return sum_;
  }

 private:
  struct Asked {
    const std::byte* from = nullptr;
    size_t bytes = 0;
  };

  void take() {
    for (const Asked& one : std::span(asked_).first(std::exchange(asked_count_, 0))) {
      if (used_ + one.bytes > buffer_.size()) {
        fold();
      }
      std::memcpy(buffer_.data() + used_, one.from, one.bytes);
      used_ += one.bytes;
    }
  }
  // The sum so far stands before the next bytes.
  void fold() {
    std::memcpy(buffer_.data(), &sum_, sizeof sum_);
    sum_ = hash_bytes(std::span(buffer_).first(used_));
    used_ = sizeof sum_;
  }

  std::array<Asked, 16> asked_;
  size_t asked_count_ = 0;
  std::array<std::byte, 32 * kCacheLineBytes> buffer_;
  size_t used_ = sizeof(uint64_t);
  uint64_t sum_ = 0;
};

// Returns the place of a sample within its stretch of the stream. It changes from one to the next,
// so that no regular pattern of changes lies between them all.
int64_t place_in_stretch(int64_t stretch) {
  constexpr uint64_t kMixer = 0x9e3779b97f4a7c15;  // 2^64 by the golden ratio
  constexpr uint64_t kLines = PutGuard::kSampledEvery / kCacheLineBytes;
  return static_cast<int64_t>((static_cast<uint64_t>(stretch) * kMixer >> 32) % kLines) * kCacheLineBytes;
}

// Returns how many bytes from here lie in the same cache line; those of a whole number at least.
int64_t rest_of_line(const std::byte* from) {
  const auto in_line = static_cast<int64_t>(reinterpret_cast<uintptr_t>(from) % kCacheLineBytes);
  return std::max<int64_t>(kCacheLineBytes - in_line, kLargestNumberBytes);
}

// Calls `look` with the place in the stream of every sample but the last.
template <typename Look>
void each_place(int64_t stream_bytes, Look&& look) {
  look(0);
  for (int64_t stretch = 1; stretch * PutGuard::kSampledEvery < stream_bytes; ++stretch) {
    look(std::min(stretch * PutGuard::kSampledEvery + place_in_stretch(stretch), stream_bytes - 1));
  }
}

void sample_piece(const std::byte* first, int64_t bytes, SampleHash& hash) {
  each_place(bytes, [&](int64_t place) { hash.add(first + place, std::min(rest_of_line(first + place), bytes - place)); });
  const int64_t last = std::min(bytes, kCacheLineBytes);
  hash.add(first + bytes - last, last);
}

void sample_pieces(const std::byte* base, const Datatype& type, SampleHash& hash) {
  Cursor cursor(type);
  const auto look = [&] {
    const ByteRange piece = cursor.piece();
    hash.add(base + piece.begin, std::min(rest_of_line(base + piece.begin), piece.size()));
  };
  each_place(type.size(), [&](int64_t place) {
    cursor.seek(place);
    look();
  });
  cursor.seek(type.size() - std::min(type.size(), kLargestNumberBytes));
  while (!cursor.done()) {
    look();
    cursor.advance(cursor.piece().size());
  }
}

// "its put 2 of 3 on this rank, of {4, 8} elements from {0, 16}"
std::string describe(std::span<const Transfer> puts, const Transfer& put) {
  const auto is_of_dataset = [&](const Transfer& one) { return one.dataset == put.dataset; };
  const auto number = 1 + std::count_if(puts.data(), &put, is_of_dataset);
  const auto count = std::count_if(puts.begin(), puts.end(), is_of_dataset);
  return fmt::format("put {} of {} that this rank has pending there, {} elements within {{{}}} from {{{}}}", number, count,
                     put.memory.type.size() / element_bytes(put.memory.element), fmt::join(put.count, ", "),
                     fmt::join(put.start, ", "));
}

}  // namespace

// Blocks of the usual size.
struct Arena::Spare {
  std::array<std::unique_ptr<std::byte[]>, 4> blocks;
};

Arena::Spare& Arena::spare() {
  thread_local Spare spare;
  return spare;
}

void Arena::add_block(int64_t bytes) {
  Block block{nullptr, bytes};
  for (auto& kept : spare().blocks) {
    if (bytes == kUsualBlockBytes && block.memory == nullptr) {
      block.memory = std::move(kept);
    }
  }
  if (block.memory == nullptr) {
    block.memory = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
  }
  blocks_.push_back(std::move(block));
}

std::byte* Arena::take(int64_t bytes) {
  STRIA_ASSERT(bytes >= 0, bytes);
  bytes = align_up(bytes, kCopyAlignmentBytes);
  if (bytes > left_bytes_) {
    if (bytes > kUsualBlockBytes / 2) {  // the rest of the block before is not given up for this
      add_block(bytes);
      bytes_ += bytes;
      return blocks_.back().memory.get();
    }
    block_bytes_ = std::clamp(std::max(4 * block_bytes_, 2 * bytes), kFirstBlockBytes, kUsualBlockBytes);
    add_block(block_bytes_);
    next_ = blocks_.back().memory.get();
    left_bytes_ = block_bytes_;
  }
  std::byte* const taken = next_;
  next_ += bytes;
  left_bytes_ -= bytes;
  bytes_ += bytes;
  return taken;
}

void Arena::release() noexcept {
  for (Block& block : blocks_) {
    for (auto& kept : spare().blocks) {
      if (block.bytes == kUsualBlockBytes && kept == nullptr) {
        kept = std::move(block.memory);
        block.bytes = 0;
      }
    }
  }
  blocks_.clear();
  next_ = nullptr;
  left_bytes_ = 0;
  block_bytes_ = 0;
  bytes_ = 0;
}

uint64_t sample_of(const Memory& memory) {
  SampleHash hash;
  const auto* const base = static_cast<const std::byte*>(memory.data);
  if (memory.type.piece_count() == 1) {
    sample_piece(base + memory.type.displacement(), memory.type.size(), hash);
  } else {
    sample_pieces(base, memory.type, hash);
  }
  return hash.digest();
}

Status PutGuard::take(Transfer& put) {
  if (put.memory.is_copied) {
    return copy(put);
  }
  const int64_t bytes = put.memory.type.size();
  const int64_t counted = bytes > kUncountedBytes ? bytes : 0;
  if (bytes <= kSmallBytes && limits_.copied_bytes > 0 && counted_bytes_ + counted <= limits_.copied_bytes &&
      or_out_of_memory([&] { return copy(put); }).ok()) {
    counted_bytes_ += counted;
    return Status();
  }
  if (limits_.samples) {
    put.sample = sample_of(put.memory);
  }
  return Status();
}

Status PutGuard::copy(Transfer& put) {
  const ByteRange all{0, put.memory.type.size()};
  std::byte* const to = copies_.take(all.size());
  STRIA_RETURN_IF_ERROR(pack_memory(put.memory, std::span(&all, 1), to));
  if (put.memory.type.is_contiguous()) {
    put.memory.data = to;
  } else {
    put.memory = Memory(to, Datatype::bytes(all.size()), put.memory.element);
  }
  most_bytes_ = std::max(most_bytes_, copies_.bytes());
  return Status();
}

namespace {

// The first or the last page of memory that was freed often isn't there any more.
bool is_there(const Memory& memory) {
  const auto* base = static_cast<const std::byte*>(memory.data);
  return is_mapped(base + memory.type.true_lower_bound()) && is_mapped(base + memory.type.true_upper_bound() - 1);
}

}  // namespace

Status PutGuard::check(std::span<const Transfer> puts, std::span<const DatasetEntry> datasets) const {
  for (const Transfer& put : puts) {
    if (put.sample && !is_there(put.memory)) {
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("dataset '{}': the memory of {}, was freed after the call. Keep it until flush() or commit(), or "
                      "have the put copy it (put_copy())",
                      datasets[static_cast<size_t>(put.dataset)].spec.path, describe(puts, put)));
    }
    if (put.sample && sample_of(put.memory) != *put.sample) {
      return Status(
          ErrorCode::kInvalidArgument,
          fmt::format("dataset '{}': the memory of {}, has changed since the call, and would be stored as it is now. Leave it "
                      "alone until flush() or commit(), or have the put copy it: put_copy(), in Python copy=True",
                      datasets[static_cast<size_t>(put.dataset)].spec.path, describe(puts, put)));
    }
  }
  return Status();
}

void PutGuard::release() noexcept {
  copies_.release();
  counted_bytes_ = 0;
}

}  // namespace stria::file
