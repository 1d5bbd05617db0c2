#include "mpiio/transfer/small_access.hpp"

#include <algorithm>
#include <utility>

#include "access/locks/write_lock.hpp"
#include "mpiio/file/handles.hpp"
#include "storage/small/small_requests.hpp"

namespace stria::mpiio {

namespace {

// What the ranks of a node may keep of a file, where no hint says otherwise.
constexpr int64_t kUsualMemoryBytes = 64 << 20;

int64_t memory_of_rank(const File& file, const storage::Capabilities& capabilities) {
  if (capabilities.node_local_cache) {
    return 0;  // the system's page cache does this already
  }
  const int64_t usual_bytes = capabilities.native_list ? kUsualMemoryBytes : 0;
  const int64_t node_bytes = file.hints().cache_bytes >= 0 ? file.hints().cache_bytes : usual_bytes;
  return node_bytes / file.comm().node_size();
}

}  // namespace

Status write_beside_others(File& file, storage::File& storage, std::span<const storage::WriteSegment> pieces) {
  ByteRange hull{pieces.front().offset, 0};
  for (const storage::WriteSegment& piece : pieces) {
    hull = {std::min(hull.begin, piece.offset), std::max(hull.end, piece.offset + piece.bytes)};
  }
  NodeLocks::Guard guard;
  access::WriteLock lock;
  if (!file.writers().enter_freely(hull, guard)) {
    PhaseTimes times;
    access::Context context{.comm = file.comm(),
                            .file = &storage,
                            .hints = file.hints(),
                            .times = times,
                            .others = {.known = file.atomic_mode().is_on() ? access::OtherWriters::Known::kShutOut
                                                                           : access::OtherWriters::Known::kAnybody,
                                       .locks = &file.shared().locks(),
                                       .writers = &file.writers()}};
    STRIA_ASSIGN_OR_RETURN(lock, access::WriteLock::plain(context, hull));
  }
  return storage.write(pieces);
}

void begin_to_gather(File& file) {
  const storage::Capabilities& capabilities = file.storage().capabilities();
  const int64_t memory_bytes = memory_of_rank(file, capabilities);
  if (memory_bytes < storage::SmallRequests::kLeastMemoryBytes) {
    return;
  }
  file.storage().gathered().begin(
      {.stripe_bytes = capabilities.stripe_bytes,
       .memory_bytes = memory_bytes,
       .write = [&file](auto pieces) { return write_beside_others(file, file.storage().unsettled_handle(), pieces); },
       .read = [&file](auto pieces) { return file.storage().unsettled_handle().read(pieces); }},
      [&file](const Status& late) { file.under_way().keep_failure(late); });
}

void settle_small(File& file) {
  if (file.storage().gathered().keeps()) {
    const auto turn = file.storage().hold();
    file.storage().gathered().settle();
  }
}

void settle_all_small() {
  if (!GatheredAccesses::any_keeps()) {
    return;
  }
  for (const auto& file : open_files()) {
    settle_small(*file);
  }
}

}  // namespace stria::mpiio
