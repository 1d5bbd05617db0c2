// Long runs are sent from the system's cache, without a copy of the server's own.
#include <algorithm>
#include <vector>

#include "base/hash.hpp"
#include "server/objects/block_content.hpp"
#include "server/objects/guarded_copy.hpp"
#include "server/objects/object.hpp"

namespace stria::server {

namespace {

// After a write that came between, for so long.
constexpr int64_t kCopySeconds = 2;

}  // namespace

std::shared_ptr<const Mapping> Object::mapping_of(int64_t end) {
  const std::lock_guard lock(view_mutex_);
  if (view_map_ == nullptr || view_map_->bytes() < end) {
    const int64_t had = view_map_ == nullptr ? 0 : view_map_->bytes();
    view_map_ = Mapping::of(descriptor_, align_up(std::max(end, 2 * had), kMapUnitBytes));
  }
  return view_map_;
}

Result<std::optional<Object::View>> Object::view(ByteRange place) {
  std::optional<View> found;
  const std::shared_lock lock(size_mutex_);
  const int64_t first = place.begin / kBlockBytes;
  const int64_t end = block_end(place.end);
  if (now_s() < copies_until_s_ || place.empty() || place.end > bytes_.load()) {
    return found;
  }
  const auto mapping = mapping_of(end * kBlockBytes);
  if (mapping == nullptr) {
    return found;
  }
  std::vector<BlockSum> sums(static_cast<size_t>(end - first));
  const BlockLocks::Guard guard(locks_, first, end, BlockLocks::Mode::kShared);
  STRIA_RETURN_IF_ERROR(sums_->load(first, sums));
  View made{{mapping->data() + place.begin, static_cast<size_t>(place.size())}, 0, changes_.load(), mapping};
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
    return mismatch(bad, sums[static_cast<size_t>(bad - first)]);
  }
  found = std::move(made);
  return found;
}

void Object::sent(const View& view) {
  if (changes_ != view.changes) {
    copies_until_s_ = now_s() + kCopySeconds;
  }
}

}  // namespace stria::server
