#include "server/objects/blocks/block_views.hpp"

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "server/objects/blocks/block_content.hpp"
#include "server/objects/blocks/guarded_copy.hpp"

namespace stria::server {

namespace {

// The reads after a write that came between are copies for so long.
constexpr int64_t kCopySeconds = 2;

}  // namespace

std::shared_ptr<const Mapping> BlockViews::mapping_of(const ObjectFile& file, int64_t end) {
  const std::lock_guard lock(mutex_);
  if (mapping_ == nullptr || mapping_->bytes() < end) {
    const int64_t had = mapping_ == nullptr ? 0 : mapping_->bytes();
    mapping_ = Mapping::of(file.descriptor(), align_up(std::max(end, 2 * had), kMapUnitBytes));
  }
  return mapping_;
}

Result<std::optional<BlockView>> BlockViews::view(Blocks& blocks, ByteRange place) {
  std::optional<BlockView> found;
  STRIA_ASSERT(place.begin >= 0, place.begin);
  const int64_t first = place.begin / kBlockBytes;
  const int64_t end = block_end(place.end);
  if (now_s() < copies_until_s_ || place.empty() || place.end > blocks.file.bytes()) {
    return found;
  }
  const auto mapping = mapping_of(blocks.file, end * kBlockBytes);
  if (mapping == nullptr) {
    return found;
  }
  std::vector<BlockSum> sums(static_cast<size_t>(end - first));
  const BlockLocks::Guard guard(blocks.locks, first, end, BlockLocks::Mode::kShared);
  STRIA_RETURN_IF_ERROR(blocks.sums->load(first, sums));
  STRIA_ASSERT(end * kBlockBytes <= mapping->bytes(), end, mapping->bytes());
  BlockView made{{mapping->data() + place.begin, static_cast<size_t>(place.size())}, 0, blocks.changes.load(), mapping};
  int64_t bad = -1;
  auto look = [&] {
    for (int64_t block = first; block < end && bad < 0; ++block) {
      const uint64_t sum = sum_of_block(mapping->data() + block * kBlockBytes);
      bad = sums[static_cast<size_t>(block - first)].fits(sum) ? -1 : block;
    }
    made.sum = hash_bytes(made.bytes);
  };
  // A page that can't be read is read by a system call, which says why.
  if (!guarded_copy(look)) {
    return found;
  }
  if (bad >= 0) {
    return mismatch(blocks, bad, sums[static_cast<size_t>(bad - first)]);
  }
  found = std::move(made);
  return found;
}

void BlockViews::sent(const Blocks& blocks, const BlockView& view) {
  if (blocks.changes != view.changes) {
    copies_until_s_ = now_s() + kCopySeconds;
  }
}

}  // namespace stria::server
