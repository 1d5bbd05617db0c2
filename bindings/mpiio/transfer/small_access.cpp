#include "mpiio/transfer/small_access.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "access/locks/write_lock.hpp"
#include "base/check.hpp"
#include "comm/private_memory.hpp"
#include "mpiio/file/handles.hpp"
#include "storage/small/collecting_pages.hpp"
#include "storage/small/fetched_pages.hpp"
#include "storage/small/page_table.hpp"
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

// Returns what the ranks of this node may keep of the file together; 0: nothing.
int64_t memory_of_node(const File& file, const storage::Capabilities& capabilities) {
  if (capabilities.node_local_cache) {
    return 0;  // the system's page cache does this already
  }
  const int64_t usual_bytes = capabilities.native_list ? kUsualMemoryBytes : 0;
  const int64_t node_bytes = file.hints().cache_bytes >= 0 ? file.hints().cache_bytes : usual_bytes;
  return node_bytes / file.comm().node_size() >= kLeastShareBytes ? node_bytes : 0;
}

/// Says how the memory of a node is dealt out, in bytes.
struct Parts {
  int64_t fetched = 0;    ///< what its ranks fetch together
  int64_t collected = 0;  ///< what they write together
  int64_t own = 0;        ///< what one of them writes alone
};

// Ranks that share the pages that they write need few of their own.
Parts deal_out(const File& file, int64_t node_bytes) {
  const int64_t ranks = file.comm().node_size();
  Parts parts;
  const int64_t fetched_bytes = std::min(node_bytes / kFetchedParts, kMostFetchedBytes);
  parts.fetched = file.mode().is_readable() ? fetched_bytes : 0;
  parts.own = (node_bytes - fetched_bytes) / ranks;
  if (ranks > 1 && file.mode().is_writable() && parts.own / 2 >= storage::SmallRequests::kLeastMemoryBytes) {
    parts.own /= 2;
    parts.collected = ranks * parts.own;
  }
  return parts;
}

/// Says where pages lie; null: nowhere.
struct PagesPlace {
  std::byte* fetched = nullptr;
  std::byte* collected = nullptr;
  std::shared_ptr<const void> owner{};
};

// Returns an empty table of this rank's own, of pages that are fetched.
PagesPlace own_table(storage::FetchedPages::Shape shape) {
  auto own = PrivateMemory::allocate(storage::FetchedPages::memory_bytes(shape));
  if (!own.ok() || shape.page_count == 0) {
    return {};
  }
  const auto kept = std::make_shared<PrivateMemory>(std::move(*own));
  storage::FetchedPages::prepare(kept->bytes().data(), shape);
  return {.fetched = kept->bytes().data(), .owner = kept};
}

/// Holds what all ranks want: the most that any does.
struct Wanted {
  int64_t stripe_bytes;
  int64_t fetched;
  int64_t collected;
  int64_t declines;  ///< whether some rank doesn't want to share memory
};

// Makes empty tables in the node's memory. Collective: yes.
PagesPlace tables_of_node(File& file, const Wanted& wanted) {
  Comm& comm = file.comm();
  const auto fetched = storage::FetchedPages::shape_for(wanted.stripe_bytes, wanted.fetched);
  const auto collected = storage::PageTable::shape_for(wanted.stripe_bytes, wanted.collected, comm.node_size());
  const int64_t collected_at = fetched.page_count > 0 ? storage::FetchedPages::memory_bytes(fetched) : 0;
  const int64_t bytes = collected_at + (collected.page_count > 0 ? storage::PageTable::memory_bytes(collected) : 0);
  if (bytes == 0) {
    return {};
  }
  const auto shared = file.shared().gathering_memory(comm, bytes);
  if (!shared.ok()) {
    return {};
  }
  std::byte* const memory = (*shared)->part(0).data();
  const PagesPlace place{.fetched = fetched.page_count > 0 ? memory : nullptr,
                         .collected = collected.page_count > 0 ? memory + collected_at : nullptr,
                         .owner = *shared};
  if (comm.node_rank() == 0 && place.fetched != nullptr) {
    storage::FetchedPages::prepare(place.fetched, fetched);
  }
  if (comm.node_rank() == 0 && place.collected != nullptr) {
    storage::PageTable::prepare(place.collected, collected);
  }
  return place;
}

// Where ranks can't or don't want to share memory, each fetches into its own. Collective: yes.
PagesPlace make_tables(File& file, const Wanted& wanted) {
  Comm& comm = file.comm();
  PagesPlace place;
  if (wanted.declines == 0 && comm.node_size() > 1) {
    place = tables_of_node(file, wanted);
  }
  comm.barrier();  // no rank looks before they are prepared
  if (place.owner == nullptr) {
    place = own_table(storage::FetchedPages::shape_for(wanted.stripe_bytes, wanted.fetched / comm.node_size()));
  }
  return place;
}

// Returns what gathers, of which this rank wants `node_bytes`. Collective: yes.
storage::SmallRequests::Options begin_together(File& file, int64_t node_bytes) {
  Parts parts = deal_out(file, node_bytes);
  const int64_t stripe_bytes = file.storage().capabilities().stripe_bytes;
  std::array<int64_t, 4> numbers{stripe_bytes, parts.fetched, parts.collected, file.shared().may_gather_together() ? 0 : 1};
  if (file.comm().size() > 1) {
    maximum_of_all(file, numbers);
  }
  const Wanted wanted{numbers[0], numbers[1], numbers[2], numbers[3]};
  PagesPlace place;
  if (wanted.fetched + wanted.collected > 0) {
    place = make_tables(file, wanted);
  }
  const auto read = [&file](auto pieces) { return file.storage().unsettled_handle().read(pieces); };
  const auto write = [&file](auto pieces) { return write_beside_others(file, file.storage().unsettled_handle(), pieces); };
  storage::SmallRequests::Options options{
      .stripe_bytes = stripe_bytes, .memory_bytes = parts.own, .write = write, .read = read};
  if (place.fetched != nullptr && node_bytes > 0) {
    options.fetched = std::make_unique<storage::FetchedPages>(storage::FetchedPages::Options{
        .memory = place.fetched,
        .owner = place.owner,
        .most_window_bytes = std::min(kLongestWindowBytes, wanted.fetched / (2 * file.comm().node_size())),
        .read = read});
  }
  if (place.collected != nullptr && parts.collected > 0) {
    options.together = std::make_unique<storage::CollectingPages>(storage::CollectingPages::Options{
        .memory = place.collected, .owner = place.owner, .rank = file.comm().node_rank(), .write = write});
  } else {
    options.memory_bytes = parts.own + parts.collected / file.comm().node_size();
  }
  return options;
}

}  // namespace

Status write_beside_others(File& file, storage::File& storage, std::span<const storage::WriteSegment> pieces) {
  STRIA_CHECK(!pieces.empty(), file.path());
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
  const int64_t node_bytes = memory_of_node(file, file.storage().capabilities());
  auto options = begin_together(file, node_bytes);
  if (node_bytes > 0) {
    file.storage().gathered().begin(std::move(options), [&file](const Status& late) { file.under_way().keep_failure(late); });
  }
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
