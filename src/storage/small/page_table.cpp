#include "storage/small/page_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

#include "base/check.hpp"
#include "comm/pause.hpp"
#include "storage/small/page_bytes.hpp"

namespace stria::storage {

namespace {

constexpr int64_t kWordBits = 64;
constexpr auto kWordBytes = static_cast<int64_t>(sizeof(uint64_t));

int64_t words_for(int64_t bits) {
  return (bits + kWordBits - 1) / kWordBits;
}

// Returns the bits of [begin, end) that lie in a word.
uint64_t mask_of(int64_t word, int64_t begin, int64_t end) {
  const int64_t first = std::max<int64_t>(begin - word * kWordBits, 0);
  const int64_t last = std::min(end - word * kWordBits, kWordBits);
  const uint64_t below_last = last == kWordBits ? ~uint64_t{0} : (uint64_t{1} << last) - 1;
  return below_last & ~((uint64_t{1} << first) - 1);
}

// What was changed before this in the program is changed before in memory, for who comes after a
// death of this process.
void keep_order() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

/// Says where the parts of a table begin, in bytes.
struct PageMemory::Layout {
  explicit Layout(Shape shape)
      : ranks(align_up(static_cast<int64_t>(sizeof(State)), kWordBits)),
        slots(ranks + shape.ranks * static_cast<int64_t>(sizeof(Rank))),
        rank_words(slots + shape.page_count * static_cast<int64_t>(sizeof(Slot))),
        bit_words(rank_words + shape.page_count * words_for(shape.ranks) * kWordBytes),
        buckets(bit_words + shape.page_count * words_for(shape.page_bytes) * kWordBytes),
        pages(align_up(buckets + shape.page_count * static_cast<int64_t>(sizeof(int32_t)), kPageAlignBytes)),
        end(pages + shape.page_count * shape.page_bytes) {}

  int64_t ranks;
  int64_t slots;
  int64_t rank_words;
  int64_t bit_words;
  int64_t buckets;
  int64_t pages;
  int64_t end;
};

PageMemory::Shape PageMemory::shape_for(int64_t stripe_bytes, int64_t memory_bytes, int64_t ranks) {
  Shape shape{.page_bytes = shared_page_bytes(stripe_bytes), .page_count = 0, .ranks = ranks};
  shape.page_count = memory_bytes / shape.page_bytes;
  while (shape.page_count > 0 && Layout(shape).end > memory_bytes) {
    --shape.page_count;
  }
  return shape;
}

int64_t PageMemory::memory_bytes(Shape shape) {
  return Layout(shape).end;
}

void PageTable::prepare(std::byte* memory, Shape shape) {
  STRIA_CHECK(shape.page_count > 0 && shape.page_count < INT32_MAX, shape.page_count);
  const Layout layout(shape);
  auto* const state = new (memory) State{};
  init_robust_node_mutex(&state->mutex);
  state->shape = shape;
  auto* const ranks = reinterpret_cast<Rank*>(memory + layout.ranks);
  std::uninitialized_value_construct_n(ranks, shape.ranks);
  for (int64_t number = 0; number < shape.ranks; ++number) {
    init_robust_node_mutex(&ranks[number].sending);
  }
  std::uninitialized_value_construct_n(reinterpret_cast<Slot*>(memory + layout.slots), shape.page_count);
  std::uninitialized_value_construct_n(reinterpret_cast<std::atomic<uint64_t>*>(memory + layout.rank_words),
                                       shape.page_count * words_for(shape.ranks));
  PageTable(memory).derive_anew();
}

PageMemory::PageMemory(std::byte* memory) : state_(reinterpret_cast<State*>(memory)) {
  const Layout layout(state_->shape);
  ranks_ = reinterpret_cast<Rank*>(memory + layout.ranks);
  slots_ = reinterpret_cast<Slot*>(memory + layout.slots);
  rank_words_ = reinterpret_cast<std::atomic<uint64_t>*>(memory + layout.rank_words);
  bit_words_ = reinterpret_cast<std::atomic<uint64_t>*>(memory + layout.bit_words);
  buckets_ = reinterpret_cast<int32_t*>(memory + layout.buckets);
  pages_ = memory + layout.pages;
}

int32_t& PageMemory::bucket_of(int64_t index) const {
  const uint64_t mixed = static_cast<uint64_t>(index) * 0x9E3779B97F4A7C15U;
  return buckets_[(mixed >> 32) % static_cast<uint64_t>(page_count())];
}

PageMemory::Words PageMemory::ranks_of(int64_t number) const {
  const int64_t words = words_for(rank_count());
  return {rank_words_ + number * words, static_cast<size_t>(words)};
}

PageMemory::Words PageMemory::bits_of(int64_t number) const {
  const int64_t words = words_for(page_bytes());
  return {bit_words_ + number * words, static_cast<size_t>(words)};
}

ByteRange PageMemory::range_of(int64_t number) const {
  const int64_t begin = slot(number).index.load(std::memory_order_relaxed) * page_bytes();
  return {begin, begin + page_bytes()};
}

int64_t PageTable::find(int64_t index) const {
  int64_t number = bucket_of(index);
  while (number >= 0 && slot(number).index.load(std::memory_order_relaxed) != index) {
    number = slot(number).next;
  }
  return number;
}

bool PageTable::has_bytes_of(int64_t number, int64_t rank) const {
  STRIA_ASSERT(0 <= rank && rank < rank_count(), rank, rank_count());
  const uint64_t word = ranks_of(number)[static_cast<size_t>(rank / kWordBits)].load(std::memory_order_relaxed);
  return (word >> (rank % kWordBits) & 1) != 0;
}

void PageTable::put_in_bucket(int64_t number) const {
  int32_t& bucket = bucket_of(slot(number).index.load(std::memory_order_relaxed));
  slot(number).next = bucket;
  bucket = static_cast<int32_t>(number);
}

int64_t PageTable::begin_page(int64_t index) {
  STRIA_ASSERT(index >= 0 && find(index) < 0, index);
  const int64_t number = state_->first_free;
  if (number < 0) {
    return -1;
  }
  Slot& begun = slot(number);
  STRIA_CHECK(number < page_count() && begun.use == Use::kFree, number, page_count(), begun.use.load());
  state_->first_free = begun.next;
  for (auto& word : ranks_of(number)) {
    word.store(0, std::memory_order_relaxed);
  }
  for (auto& word : bits_of(number)) {
    word.store(0, std::memory_order_relaxed);
  }
  begun.written_bytes = 0;
  begun.index.store(index, std::memory_order_relaxed);
  keep_order();
  begun.use.store(Use::kCollecting, std::memory_order_relaxed);
  put_in_bucket(number);
  return number;
}

// Tells the ranks with bytes in a page when it has been sent, or could not be.
void PageTable::tell_ranks(int64_t number, const Status& sent) const {
  for (int64_t which = 0; which < rank_count(); ++which) {
    if (!has_bytes_of(number, which)) {
      continue;
    }
    Rank& told = rank(which);
    if (!sent.ok() && told.error.load() == 0) {
      const size_t length = sent.message().copy(told.message, sizeof(told.message) - 1);
      told.message[length] = '\0';
      told.reason = sent.reason();
      keep_order();
      told.error.store(static_cast<int>(sent.code()));
    }
    told.sent.fetch_add(1);
    told.pages.fetch_sub(1);  // last: a rank that looks without the mutex must see the others first
  }
}

void PageTable::end_page(int64_t number, const Status& sent) {
  Slot& ended = slot(number);
  STRIA_CHECK(ended.use == Use::kSending, number, ended.use.load());
  tell_ranks(number, sent);
  int32_t* link = &bucket_of(ended.index.load(std::memory_order_relaxed));
  while (*link != number) {
    STRIA_CHECK(*link >= 0, number);  // it isn't in its bucket
    link = &slot(*link).next;
  }
  *link = ended.next;
  ended.use.store(Use::kFree, std::memory_order_relaxed);
  ended.next = static_cast<int32_t>(state_->first_free);
  state_->first_free = number;
}

void PageTable::note_rank(int64_t number, int64_t which) const {
  if (!has_bytes_of(number, which)) {
    ranks_of(number)[static_cast<size_t>(which / kWordBits)].fetch_or(uint64_t{1} << (which % kWordBits));
    rank(which).pages.fetch_add(1);
  }
}

void PageTable::copy_in(int64_t number, int64_t which, ByteRange part, const std::byte* data) {
  Slot& page = slot(number);
  STRIA_ASSERT(page.use == Use::kCollecting && intersect(part, range_of(number)) == part);
  note_rank(number, which);
  const int64_t begin = part.begin - range_of(number).begin;
  const int64_t end = begin + part.size();
  std::memcpy(bytes(number) + begin, data, static_cast<size_t>(part.size()));
  keep_order();
  int64_t added = 0;
  const Words bits = bits_of(number);
  for (int64_t word = begin / kWordBits; word <= (end - 1) / kWordBits; ++word) {
    const uint64_t mask = mask_of(word, begin, end);
    auto& stored = bits[static_cast<size_t>(word)];
    const uint64_t before = stored.load(std::memory_order_relaxed);
    added += std::popcount(mask & ~before);
    stored.store(before | mask, std::memory_order_relaxed);
  }
  page.last_use = ++state_->uses;
  page.written_bytes += added;
  STRIA_CHECK(page.written_bytes <= page_bytes(), page.written_bytes, page_bytes());
  if (added > 0 && is_whole(number)) {
    note_whole(number, which);
  }
}

void PageTable::note_whole(int64_t number, int64_t last) const {
  ++state_->whole_pages;
  int64_t writers = 0;
  for (const auto& word : ranks_of(number)) {
    writers += std::popcount(word.load(std::memory_order_relaxed));
  }
  STRIA_ASSERT(writers > 0 && has_bytes_of(number, last));
  if (writers > 1) {
    state_->joint_pages.fetch_add(1);
  }
  note_change();
}

void PageTable::note_change() const {
  state_->changes.fetch_add(1);
  wake_sleepers(state_->changes);
}

void PageTable::begin_sending(int64_t number, int64_t sender) {
  Slot& page = slot(number);
  STRIA_CHECK(page.use == Use::kCollecting, number, page.use.load(), sender);
  page.sender = sender;
  keep_order();
  page.use.store(Use::kSending, std::memory_order_relaxed);
  state_->whole_pages -= is_whole(number) ? 1 : 0;
  STRIA_ASSERT(state_->whole_pages >= 0, state_->whole_pages);
}

void PageTable::take_back_from(int64_t sender) {
  for (int64_t number = 0; number < page_count(); ++number) {
    Slot& page = slot(number);
    if (page.use == Use::kSending && page.sender == sender) {
      page.use.store(Use::kCollecting, std::memory_order_relaxed);
      state_->whole_pages += is_whole(number) ? 1 : 0;
    }
  }
  note_change();
}

void PageTable::for_each_range(int64_t number, ByteRange part, const std::function<void(ByteRange)>& visit) const {
  const ByteRange page = range_of(number);
  const ByteRange wanted = intersect(part, page);
  if (is_whole(number) && !wanted.empty()) {
    visit(wanted);
    return;
  }
  const Words bits = bits_of(number);
  ByteRange run{wanted.begin, wanted.begin};
  int64_t at = wanted.begin - page.begin;
  while (at < wanted.end - page.begin) {
    const uint64_t rest = bits[static_cast<size_t>(at / kWordBits)].load(std::memory_order_relaxed) >> (at % kWordBits);
    const int64_t room = std::min(kWordBits - at % kWordBits, wanted.end - page.begin - at);
    const bool is_written = (rest & 1) != 0;
    const int64_t same = std::min<int64_t>(is_written ? std::countr_one(rest) : std::countr_zero(rest), room);
    if (is_written) {
      run.end = page.begin + at + same;
    } else {
      if (!run.empty()) {
        visit(run);
      }
      run = {page.begin + at + same, page.begin + at + same};
    }
    at += same;
  }
  if (!run.empty()) {
    visit(run);
  }
}

bool PageTable::has_all_of(int64_t number, ByteRange part) const {
  if (is_whole(number)) {
    return true;
  }
  bool has_all = false;
  for_each_range(number, part, [&](ByteRange run) { has_all = run == part; });
  return has_all;
}

// Chains and counts, from what the pages say.
void PageTable::derive_anew() const {
  std::fill_n(buckets_, page_count(), int32_t{-1});
  state_->first_free = -1;
  state_->whole_pages = 0;
  for (int64_t which = 0; which < rank_count(); ++which) {
    rank(which).pages.store(0);
  }
  for (int64_t number = page_count() - 1; number >= 0; --number) {
    Slot& page = slot(number);
    if (page.use == Use::kFree) {
      page.next = static_cast<int32_t>(state_->first_free);
      state_->first_free = number;
      continue;
    }
    put_in_bucket(number);
    int64_t written_bytes = 0;
    for (const auto& word : bits_of(number)) {
      written_bytes += std::popcount(word.load(std::memory_order_relaxed));
    }
    page.written_bytes = written_bytes;
    state_->whole_pages += page.use == Use::kCollecting && is_whole(number) ? 1 : 0;
    for (int64_t which = 0; which < rank_count(); ++which) {
      rank(which).pages.fetch_add(has_bytes_of(number, which) ? 1 : 0);
    }
  }
}

}  // namespace stria::storage
