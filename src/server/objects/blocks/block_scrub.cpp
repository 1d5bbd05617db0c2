#include "server/objects/blocks/block_scrub.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/byte_range.hpp"
#include "base/check.hpp"

namespace stria::server {

namespace {

constexpr int64_t kAtOnce = 64;          // blocks under one lock
constexpr int64_t kBlocksAnswer = 4096;  // blocks that one request looks at

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte[], Free>;

/// A descriptor past the system's cache, closed by the destructor; -1 where there is none.
class DirectFile {
 public:
  explicit DirectFile(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)) {}
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;
  ~DirectFile() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Returns the number of bytes that could be read; bytes behind the end are zero.
int64_t read_for_scrub(const ObjectFile& file, int direct, int64_t first, std::span<std::byte> content) {
  std::fill(content.begin(), content.end(), std::byte{0});
  const int64_t wanted = std::min<int64_t>(static_cast<int64_t>(content.size()), file.bytes() - first * kBlockBytes);
  int64_t have = 0;
  for (const int descriptor : {direct, file.descriptor()}) {
    if (descriptor < 0 || have >= wanted) {
      continue;
    }
    const ssize_t now = pread(descriptor, content.data(), content.size(), first * kBlockBytes);
    have = std::max<int64_t>(have, now);
  }
  return have >= wanted ? static_cast<int64_t>(content.size()) : align_down(have, kBlockBytes);
}

}  // namespace

// Scrubs of several clients may mix: what counts is that each block was looked at.
bool ScrubPass::add(int64_t first, int64_t end, bool found) {
  STRIA_ASSERT(0 <= first && first <= end, first, end);
  const std::lock_guard lock(mutex_);
  if (first == 0) {
    next_ = 0;
    found_ = false;
  }
  if (first != next_) {
    return false;
  }
  next_ = end;
  found_ = found_ || found;
  return !found_;
}

Result<wire::Scrubbed> scrub_blocks(Blocks& blocks, const wire::Scrub& request, ScrubPass& pass) {
  const AlignedMemory memory(static_cast<std::byte*>(std::aligned_alloc(kBlockBytes, kAtOnce * kBlockBytes)));
  if (memory == nullptr) {
    return Status(ErrorCode::kResourceExhausted, "no memory to look at the blocks");
  }
  const DirectFile direct(blocks.file.path());
  wire::Scrubbed answer;
  answer.local_bytes = blocks.file.bytes();
  const int64_t all = align_up(answer.local_bytes, kBlockBytes) / kBlockBytes;
  const int64_t first = std::min(request.first_block, all);
  int64_t block = first;
  const int64_t stop = std::min(all, block + kBlocksAnswer);
  while (block < stop) {
    const auto count = static_cast<size_t>(std::min(kAtOnce, stop - block));
    std::vector<BlockSum> sums(count);
    const auto mode = request.accept ? BlockLocks::Mode::kExclusive : BlockLocks::Mode::kShared;
    const BlockLocks::Guard guard(blocks.locks, block, block + static_cast<int64_t>(count), mode);
    STRIA_RETURN_IF_ERROR(blocks.sums->load(block, sums));
    const std::span<std::byte> content(memory.get(), count * kBlockBytes);
    int64_t readable = read_for_scrub(blocks.file, direct.get(), block, content);
    for (size_t i = 0; i < count; ++i) {
      const auto now = block + static_cast<int64_t>(i);
      std::byte* const bytes = content.data() + i * kBlockBytes;
      if (readable < static_cast<int64_t>((i + 1) * kBlockBytes) &&
          read_for_scrub(blocks.file, direct.get(), now, {bytes, kBlockBytes}) == 0) {
        answer.bad.push_back({now, wire::BlockFault::kUnreadable});
        continue;
      }
      const uint64_t sum = sum_of_block(bytes);
      if (sums[i].fits(sum)) {
        continue;
      }
      const bool doubtful = sums[i].in_flight() || blocks.sums->is_doubtful();
      answer.bad.push_back({now, doubtful ? wire::BlockFault::kInFlight : wire::BlockFault::kDamaged});
      if (doubtful && request.accept) {
        sums[i] = {sum, sum};
        STRIA_RETURN_IF_ERROR(blocks.sums->reserve(now + 1));
        STRIA_RETURN_IF_ERROR(blocks.sums->store(now, {&sums[i], 1}));
      }
    }
    block += static_cast<int64_t>(count);
  }
  const bool none_left = std::all_of(answer.bad.begin(), answer.bad.end(), [&](const wire::Scrubbed::Bad& bad) {
    return request.accept && bad.fault == wire::BlockFault::kInFlight;
  });
  answer.next_block = block;
  answer.done = block == all;
  if (pass.add(first, block, !none_left) && answer.done) {
    STRIA_RETURN_IF_ERROR(blocks.sums->end_doubt());
  }
  return answer;
}

}  // namespace stria::server
