#include "mpiio/transfer/small_access.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "access/locks/write_lock.hpp"
#include "comm/private_memory.hpp"
#include "mpiio/file/handles.hpp"
#include "storage/small/fetched_pages.hpp"
#include "storage/small/small_requests.hpp"

namespace stria::mpiio {

namespace {

// What the ranks of a node may keep of a file, where no hint says otherwise.
constexpr int64_t kUsualMemoryBytes = 64 << 20;
// A rank with a smaller share gathers nothing.
constexpr int64_t kLeastShareBytes = 512 << 10;
// A quarter of the memory is for what is fetched, but more than this gains nothing.
constexpr int64_t kFetchedParts = 4;
constexpr int64_t kMostFetchedBytes = 16 << 20;
constexpr int64_t kLongestWindowBytes = 4 << 20;

// What the ranks of this node may keep of the file together; 0: nothing.
int64_t memory_of_node(const File& file, const storage::Capabilities& capabilities) {
  if (capabilities.node_local_cache) {
    return 0;  // the system's page cache does this already
  }
  const int64_t usual_bytes = capabilities.native_list ? kUsualMemoryBytes : 0;
  const int64_t node_bytes = file.hints().cache_bytes >= 0 ? file.hints().cache_bytes : usual_bytes;
  return node_bytes / file.comm().node_size() >= kLeastShareBytes ? node_bytes : 0;
}

/// Where pages lie that are fetched.
struct PagesPlace {
  std::byte* memory = nullptr;  ///< null: nowhere
  std::shared_ptr<const void> owner{};
};

// An empty table of this rank's own.
PagesPlace own_table(storage::FetchedPages::Shape shape) {
  auto own = PrivateMemory::allocate(storage::FetchedPages::memory_bytes(shape));
  if (!own.ok() || shape.page_count == 0) {
    return {};
  }
  const auto kept = std::make_shared<PrivateMemory>(std::move(*own));
  storage::FetchedPages::prepare(kept->bytes().data(), shape);
  return {.memory = kept->bytes().data(), .owner = kept};
}

// An empty table in the node's memory, or where its ranks can't or don't want to share any, in this
// rank's own. Collective: yes.
PagesPlace make_table(File& file, int64_t stripe_bytes, int64_t node_bytes, bool shares) {
  Comm& comm = file.comm();
  const auto shape = storage::FetchedPages::shape_for(stripe_bytes, node_bytes);
  PagesPlace table;
  if (shares && comm.node_size() > 1) {
    const auto shared = file.shared().fetched_memory(comm, storage::FetchedPages::memory_bytes(shape));
    if (shared.ok()) {
      table = {.memory = (*shared)->part(0).data(), .owner = *shared};
    }
  }
  if (table.memory != nullptr && comm.node_rank() == 0) {
    storage::FetchedPages::prepare(table.memory, shape);
  }
  comm.barrier();  // no rank looks before it is prepared
  if (table.memory == nullptr) {
    table = own_table(storage::FetchedPages::shape_for(stripe_bytes, node_bytes / comm.node_size()));
  }
  return table;
}

// What the ranks of the node fetch together; null where they don't. Collective: yes.
std::unique_ptr<storage::FetchedPages> fetch_together(File& file, int64_t node_bytes) {
  std::array<int64_t, 3> wanted{file.mode().is_readable() ? std::min(node_bytes / kFetchedParts, kMostFetchedBytes) : 0,
                                file.storage().capabilities().stripe_bytes, file.shared().may_fetch_together() ? 0 : 1};
  if (file.comm().size() > 1) {
    maximum_of_all(file, wanted);
  }
  const auto [bytes, stripe_bytes, declines] = wanted;
  if (bytes == 0) {
    return nullptr;
  }
  PagesPlace table = make_table(file, stripe_bytes, bytes, declines == 0);
  if (table.memory == nullptr || node_bytes == 0) {
    return nullptr;
  }
  return std::make_unique<storage::FetchedPages>(
      storage::FetchedPages::Options{.memory = table.memory,
                                     .owner = std::move(table.owner),
                                     .most_window_bytes = std::min(kLongestWindowBytes, bytes / (2 * file.comm().node_size())),
                                     .read = [&file](auto pieces) { return file.storage().unsettled_handle().read(pieces); }});
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
  const int64_t node_bytes = memory_of_node(file, capabilities);
  auto fetched = fetch_together(file, node_bytes);
  if (node_bytes == 0) {
    return;
  }
  file.storage().gathered().begin(
      {.stripe_bytes = capabilities.stripe_bytes,
       .memory_bytes = (node_bytes - std::min(node_bytes / kFetchedParts, kMostFetchedBytes)) / file.comm().node_size(),
       .fetched = std::move(fetched),
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

OrderingCall::OrderingCall() {
  if (!GatheredAccesses::any_keeps()) {
    return;
  }
  for (const auto& file : open_files()) {
    settle_small(*file);
  }
}

OrderingCall::~OrderingCall() {
  storage::FetchedPages::note_order();
}

}  // namespace stria::mpiio
