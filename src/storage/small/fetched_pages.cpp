#include "storage/small/fetched_pages.hpp"

#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "comm/node_mutex.hpp"
#include "comm/pause.hpp"
#include "storage/small/page_bytes.hpp"

namespace stria::storage {

namespace {

constexpr int64_t kFirstWindowBytes = 128 << 10;
// What lies between two reads of a stream costs less than a request of its own.
constexpr int64_t kLongestGapBytes = 32 << 10;
// A fetch that takes longer has probably died with its rank.
constexpr int64_t kPatienceNs = 1'000'000'000;

// When a thread of this process last heard of another rank, and how many files listen.
std::atomic<int64_t> heard_ns{0};
std::atomic<int> listeners{0};

// Returns the same clock for all processes of the node.
int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

enum class PageState : uint8_t { kFree, kFetching, kGivenUp, kFetched };

// It changes under the mutex; read_again() looks without it.
struct FetchedPages::Slot {
  std::atomic<uint32_t> version{0};  // another one before anything else changes
  std::atomic<PageState> state{PageState::kFree};
  std::atomic<bool> used{false};       // since the hand passed
  std::atomic<int64_t> index{-1};      // the index of the page in the file
  std::atomic<int64_t> started_ns{0};  // when its fetch began
  std::atomic<int64_t> bytes{0};       // bytes that the file has of it
  int32_t next = -1;                   // slot of the same bucket; -1: none

  // Nobody copies from it without the mutex from now on, and who is copying finds out.
  void begin_change(PageState changing) {
    state.store(changing, std::memory_order_relaxed);
    version.fetch_add(1, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_release);
  }
};

/// The slots follow it, then the buckets, then, at a multiple of 4096, the pages.
struct FetchedPages::State {
  pthread_mutex_t mutex;
  std::atomic<uint32_t> changes;  // counts changes of pages that are waited for
  int64_t page_bytes;
  int64_t page_count;
  int64_t hand;    // where the next victim is looked for
  bool is_broken;  // a rank has died amid a change
};

FetchedPages::Shape FetchedPages::shape_for(int64_t stripe_bytes, int64_t memory_bytes) {
  const int64_t page_bytes = shared_page_bytes(stripe_bytes);
  return {page_bytes, memory_bytes / page_bytes};
}

int64_t FetchedPages::memory_bytes(Shape shape) {
  const auto per_page = static_cast<int64_t>(sizeof(Slot) + sizeof(int32_t));
  const int64_t table = align_up(static_cast<int64_t>(sizeof(State)) + per_page * shape.page_count, kPageAlignBytes);
  return table + shape.page_bytes * shape.page_count;
}

void FetchedPages::prepare(std::byte* memory, Shape shape) {
  STRIA_CHECK(shape.page_count > 0 && shape.page_count < INT32_MAX, shape.page_count);
  auto* const state = new (memory) State{};
  init_robust_node_mutex(&state->mutex);
  state->page_bytes = shape.page_bytes;
  state->page_count = shape.page_count;
  auto* const slot = reinterpret_cast<Slot*>(state + 1);
  std::uninitialized_value_construct_n(slot, shape.page_count);
  std::uninitialized_fill_n(reinterpret_cast<int32_t*>(slot + shape.page_count), shape.page_count, int32_t{-1});
}

FetchedPages::FetchedPages(Options options) : options_(std::move(options)), state_(reinterpret_cast<State*>(options_.memory)) {
  STRIA_ASSERT(state_ != nullptr && state_->page_count > 0);
  listeners.fetch_add(1);
}

FetchedPages::~FetchedPages() {
  listeners.fetch_sub(1);
}

void FetchedPages::note_order() {
  if (listeners.load(std::memory_order_relaxed) > 0) {
    heard_ns.store(now_ns());
  }
}

void FetchedPages::forget() {
  begins_anew_ = true;
  streams_.fill({});
}

FetchedPages::Slot* FetchedPages::slots() const {
  return reinterpret_cast<Slot*>(state_ + 1);
}

int32_t* FetchedPages::buckets() const {
  return reinterpret_cast<int32_t*>(slots() + state_->page_count);
}

std::byte* FetchedPages::page(int64_t slot) const {
  const int64_t pages_at = memory_bytes({.page_bytes = 0, .page_count = state_->page_count});
  return options_.memory + pages_at + slot * state_->page_bytes;
}

int32_t& FetchedPages::bucket_of(int64_t index) const {
  const uint64_t mixed = static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15U;
  return buckets()[(mixed >> 32) % static_cast<uint64_t>(state_->page_count)];
}

// Finds the slot of a page; -1: none.
int64_t FetchedPages::find(int64_t index) const {
  int32_t at = bucket_of(index);
  while (at >= 0 && slots()[at].index.load(std::memory_order_relaxed) != index) {
    at = slots()[at].next;
  }
  return at;
}

bool FetchedPages::is_fresh(const Slot& slot) const {
  return slot.started_ns.load(std::memory_order_relaxed) > since_ns_;
}

// Copies from the page that was read last, which needs no mutex. False where all isn't there.
bool FetchedPages::read_again(ByteRange range, std::byte* data) {
  if (last_slot_ < 0) {
    return false;
  }
  Slot& slot = slots()[last_slot_];
  const uint32_t version = slot.version.load(std::memory_order_acquire);
  const int64_t begin = slot.index.load(std::memory_order_relaxed) * state_->page_bytes;
  if (slot.state.load(std::memory_order_acquire) != PageState::kFetched || !is_fresh(slot) || range.begin < begin ||
      range.end > begin + slot.bytes.load(std::memory_order_relaxed)) {
    return false;
  }
  std::memcpy(data, page(last_slot_) + (range.begin - begin), static_cast<size_t>(range.size()));
  if (!slot.used.load(std::memory_order_relaxed)) {
    slot.used.store(true, std::memory_order_relaxed);
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return slot.version.load(std::memory_order_relaxed) == version;
}

// Copies from where it stopped to the end of the range, as far as the pages are there.
FetchedPages::Found FetchedPages::copy(ByteRange range, std::byte* data, int64_t& done, uint32_t& seen) {
  const RobustMutexLock lock(&state_->mutex);
  state_->is_broken = state_->is_broken || lock.owner_died();
  if (state_->is_broken) {
    return Found::kMissing;
  }
  seen = state_->changes.load();
  while (done < range.size()) {
    const int64_t at = range.begin + done;
    const int64_t index = at / state_->page_bytes;
    const int64_t found = find(index);
    if (found < 0 || !is_fresh(slots()[found])) {
      return Found::kMissing;
    }
    Slot& slot = slots()[found];
    if (slot.state != PageState::kFetched) {
      return slot.state == PageState::kFetching ? Found::kComing : Found::kMissing;
    }
    const int64_t begin = at - index * state_->page_bytes;
    const int64_t bytes = std::min(slot.bytes - begin, range.size() - done);
    if (bytes > 0) {
      std::memcpy(data + done, page(found) + begin, static_cast<size_t>(bytes));
      done += bytes;
      slot.used = true;
      last_slot_ = found;
    }
    if (slot.bytes < state_->page_bytes && done < range.size()) {
      return Found::kEnd;
    }
  }
  return Found::kAll;
}

FetchedPages::Stream* FetchedPages::stream_before(ByteRange range) {
  for (Stream& stream : streams_) {
    if (stream.next >= 0 && stream.next <= range.begin && range.begin - stream.next <= kLongestGapBytes) {
      return &stream;
    }
  }
  return nullptr;
}

// Notes where the program is now. A read that follows none begins a stream, in place of the one
// that has not been used for longest.
void FetchedPages::note_read(ByteRange range) {
  Stream* stream = stream_before(range);
  if (stream == nullptr) {
    stream = std::min_element(streams_.begin(), streams_.end(),
                              [](const Stream& a, const Stream& b) { return a.last_use < b.last_use; });
    stream->fetch_bytes = 0;
  }
  stream->next = range.end;
  stream->last_use = ++uses_;
}

// Returns how much to fetch for a read whose pages aren't there; 0: only what it asks for.
int64_t FetchedPages::window_bytes(ByteRange range) {
  Stream* const stream = stream_before(range);
  if (stream == nullptr) {
    return options_.alone_bytes;
  }
  const int64_t first = std::min(kFirstWindowBytes, options_.most_window_bytes);
  stream->fetch_bytes = std::clamp(2 * stream->fetch_bytes, first, options_.most_window_bytes);
  return stream->fetch_bytes;
}

// Returns a slot for another page; -1 where all are in use. Two rounds of the hand pass each slot
// unused.
int64_t FetchedPages::evict() {
  for (int64_t step = 0; step < 2 * state_->page_count; ++step) {
    const int64_t at = state_->hand;
    state_->hand = (at + 1) % state_->page_count;
    Slot& slot = slots()[at];
    const bool is_in_use = slot.state == PageState::kFetching || slot.state == PageState::kGivenUp;
    if (is_in_use || slot.used.exchange(false)) {
      continue;
    }
    slot.begin_change(PageState::kFree);
    if (slot.index >= 0) {
      int32_t* link = &bucket_of(slot.index);
      while (*link != at) {
        link = &slots()[*link].next;
      }
      *link = slot.next;
    }
    slot.index = -1;
    return at;
  }
  return -1;
}

// Claims pages from the first on, up to one that another rank has or fetches.
void FetchedPages::claim(int64_t first_index, int64_t count) {
  claimed_.clear();
  const RobustMutexLock lock(&state_->mutex);
  state_->is_broken = state_->is_broken || lock.owner_died();
  if (state_->is_broken) {
    return;
  }
  const int64_t started_ns = now_ns();
  for (int64_t index = first_index; index < first_index + count; ++index) {
    int64_t at = find(index);
    if (at >= 0) {
      const PageState state = slots()[at].state;
      if ((state == PageState::kFetched && is_fresh(slots()[at])) || state == PageState::kFetching ||
          state == PageState::kGivenUp) {
        return;
      }
      slots()[at].begin_change(PageState::kFetching);
    } else {
      at = evict();
      if (at < 0) {
        return;
      }
      int32_t& bucket = bucket_of(index);
      slots()[at].index = index;
      slots()[at].next = std::exchange(bucket, static_cast<int32_t>(at));
      slots()[at].state = PageState::kFetching;
    }
    slots()[at].started_ns = started_ns;
    claimed_.push_back(at);
  }
}

// Publishes what the storage has told of the claimed pages, or that it failed.
void FetchedPages::publish(const Result<int64_t>& got, int64_t first_index) {
  const RobustMutexLock lock(&state_->mutex);
  state_->is_broken = state_->is_broken || lock.owner_died();
  int64_t left = got.ok() ? *got : 0;
  for (size_t i = 0; i < claimed_.size() && !state_->is_broken; ++i) {
    Slot& slot = slots()[claimed_[i]];
    STRIA_ASSERT(slot.index == first_index + static_cast<int64_t>(i));
    slot.bytes = std::clamp<int64_t>(left, 0, state_->page_bytes);
    left -= slot.bytes;
    slot.used = false;
    if (!got.ok()) {
      slot.started_ns = 0;
    }
    slot.state.store(got.ok() ? PageState::kFetched : PageState::kFree, std::memory_order_release);
  }
  state_->changes.fetch_add(1);
  wake_sleepers(state_->changes);
}

Status FetchedPages::fetch(int64_t first_index, int64_t count) {
  std::vector<ReadSegment> list;
  try {
    list.reserve(static_cast<size_t>(count));
    claimed_.reserve(static_cast<size_t>(count));
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kResourceExhausted, "there is no memory to read ahead");
  }
  claim(first_index, count);
  if (claimed_.empty()) {
    return Status(ErrorCode::kResourceExhausted, "all pages of the node are in use");
  }
  for (const int64_t slot : claimed_) {
    const int64_t offset = (first_index + static_cast<int64_t>(list.size())) * state_->page_bytes;
    list.push_back({offset, page(slot), state_->page_bytes});
  }
  const auto got = options_.read(list);
  publish(got, first_index);
  return got.status();
}

// Gives up a fetch by another rank that doesn't end: nobody waits for it any more.
void FetchedPages::give_up(int64_t index) {
  const RobustMutexLock lock(&state_->mutex);
  state_->is_broken = state_->is_broken || lock.owner_died();
  int64_t at = state_->is_broken ? -1 : find(index);
  const int64_t started_ns = at >= 0 ? slots()[at].started_ns.load() : 0;
  while (at >= 0 && slots()[at].state == PageState::kFetching && slots()[at].started_ns == started_ns) {
    slots()[at].state = PageState::kGivenUp;
    at = find(++index);  // The next page is of the same fetch.
  }
}

Result<int64_t> FetchedPages::read_rest(ByteRange range, std::byte* data, int64_t done) {
  const ReadSegment rest{range.begin + done, data + done, range.size() - done};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, options_.read({&rest, 1}));
  return done + bytes;
}

// Decides, before each read, how old a page may be.
void FetchedPages::set_since() {
  if (begins_anew_ || options_.lifetime_ns > 0) {
    const int64_t now = now_ns();
    since_ns_ = std::max(since_ns_, std::exchange(begins_anew_, false) ? now : now - options_.lifetime_ns);
  }
  since_ns_ = std::max(since_ns_, heard_ns.load(std::memory_order_relaxed));
}

Result<int64_t> FetchedPages::read(ByteRange range, std::byte* data) {
  set_since();
  if (read_again(range, data)) {
    note_read(range);
    return range.size();
  }
  int64_t done = 0;
  uint32_t seen = 0;
  int64_t waits_since_ns = 0;
  bool may_fetch = true;
  while (true) {
    const Found found = copy(range, data, done, seen);
    if (found == Found::kAll || found == Found::kEnd) {
      note_read(range);
      return done;
    }
    const int64_t index = (range.begin + done) / state_->page_bytes;
    if (found == Found::kComing) {
      waits_since_ns = waits_since_ns == 0 ? now_ns() : waits_since_ns;
      if (now_ns() - waits_since_ns > kPatienceNs) {
        give_up(index);
        break;
      }
      sleep_while(state_->changes, seen);
      continue;
    }
    const int64_t ahead_bytes = may_fetch ? window_bytes(range) : 0;
    may_fetch = false;
    if (ahead_bytes == 0) {
      break;
    }
    const int64_t end = std::max(range.end, range.begin + ahead_bytes);
    if (!fetch(index, align_up(end, state_->page_bytes) / state_->page_bytes - index).ok()) {
      break;
    }
  }
  note_read(range);
  return read_rest(range, data, done);
}

}  // namespace stria::storage
