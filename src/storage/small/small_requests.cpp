#include "storage/small/small_requests.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>
#include <utility>

#include "base/check.hpp"

namespace stria::storage {

namespace {

constexpr int64_t kLargestPageBytes = 64 << 10;
// A list of so many bytes keeps all servers busy, and its pages stay in the processor's cache.
constexpr int64_t kEnoughBytes = 2 << 20;
// No file has bytes so far out, and sums of offsets stay exact before.
constexpr int64_t kFarOffset = int64_t{1} << 61;

bool overlap(ByteRange a, ByteRange b) {
  return !intersect(a, b).empty();
}

// Adds a range to a sorted list; ranges that touch become one.
void add_range(std::vector<ByteRange>& ranges, ByteRange added) {
  if (ranges.empty() || ranges.back().end < added.begin) {
    ranges.push_back(added);
    return;
  }
  const auto first =
      std::lower_bound(ranges.begin(), ranges.end(), added.begin, [](ByteRange range, int64_t at) { return range.end < at; });
  auto last = first;
  for (; last != ranges.end() && last->begin <= added.end; ++last) {
    added = {std::min(added.begin, last->begin), std::max(added.end, last->end)};
  }
  if (last == first) {
    ranges.insert(first, added);
    return;
  }
  *first = added;
  ranges.erase(first + 1, last);
}

// Tells whether one range of the list has the whole of another.
bool has_all_of(const std::vector<ByteRange>& ranges, ByteRange wanted) {
  const auto found =
      std::lower_bound(ranges.begin(), ranges.end(), wanted.end, [](ByteRange range, int64_t at) { return range.end < at; });
  return found != ranges.end() && found->begin <= wanted.begin;
}

bool has_part_of(const std::vector<ByteRange>& ranges, ByteRange wanted) {
  return std::any_of(ranges.begin(), ranges.end(), [&](ByteRange range) { return overlap(range, wanted); });
}

// Tells whether any rank has sent bytes of this one, which windows from before don't have.
bool were_sent(CollectingPages* together) {
  return together != nullptr && together->were_sent();
}

int64_t page_bytes_for(int64_t stripe_bytes) {
  return stripe_bytes > 0 ? std::gcd(stripe_bytes, kLargestPageBytes) : kLargestPageBytes;
}

}  // namespace

SmallRequests::SmallRequests(Options options)
    : options_(std::move(options)),
      page_bytes_(page_bytes_for(options_.stripe_bytes)),
      most_pages_(options_.memory_bytes / page_bytes_) {
  STRIA_ASSERT(options_.memory_bytes >= kLeastMemoryBytes, options_.memory_bytes);
}

int64_t SmallRequests::kept_end() const {
  int64_t end = 0;
  for (auto page = pages_.rbegin(); page != pages_.rend() && end == 0; ++page) {
    end = page->second.written.empty() ? 0 : page->second.written.back().end;
  }
  return end;
}

void SmallRequests::begin_fetching_anew() {
  if (options_.fetched != nullptr) {
    options_.fetched->begin_anew();
  }
}

// Null where there is no memory for it.
SmallRequests::Page* SmallRequests::page_at(int64_t index) {
  if (index == last_index_) {
    return last_page_;
  }
  auto found = pages_.find(index);
  if (found == pages_.end()) {
    try {
      Page page;
      if (spare_.empty()) {
        page.bytes = std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(page_bytes_));
      } else {
        page.bytes = std::move(spare_.back());
        spare_.pop_back();
      }
      found = pages_.emplace(index, std::move(page)).first;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  last_index_ = index;
  last_page_ = &found->second;
  return last_page_;
}

// False, and nothing of it counts as written, where memory runs out.
bool SmallRequests::keep(int64_t offset, std::span<const std::byte> data) {
  const int64_t end = offset + static_cast<int64_t>(data.size());
  for (int64_t at = offset; at < end;) {
    const int64_t index = at / page_bytes_;
    const ByteRange part{at, std::min(end, (index + 1) * page_bytes_)};
    Page* const page = page_at(index);
    if (page == nullptr) {
      return false;
    }
    std::memcpy(page->bytes.get() + (at - index * page_bytes_), data.data() + (at - offset), static_cast<size_t>(part.size()));
    try {
      add_range(page->written, part);
    } catch (const std::bad_alloc&) {
      return false;
    }
    at = part.end;
  }
  return true;
}

// Tells whether a write may add to what is kept: always where it stays in the page of the one
// before.
bool SmallRequests::has_room(ByteRange range) const {
  const int64_t first = range.begin / page_bytes_;
  const int64_t last = (range.end - 1) / page_bytes_;
  if (first == last && first == last_index_) {
    return true;
  }
  return kept_bytes_ < kEnoughBytes && static_cast<int64_t>(pages_.size()) + last - first + 1 <= most_pages_;
}

// Notes what sends of this rank's bytes have met, by whichever rank.
void SmallRequests::note_late(Status& late) {
  if (options_.together != nullptr) {
    late.update(options_.together->take_error());
  }
}

bool SmallRequests::is_shared(int64_t index) const {
  return options_.together != nullptr && options_.together->has_page_of({index * page_bytes_, (index + 1) * page_bytes_});
}

void SmallRequests::put_together(int64_t index, const Page& page) {
  for (const ByteRange range : page.written) {
    const std::byte* const bytes = page.bytes.get() + (range.begin - index * page_bytes_);
    options_.together->put(range.begin, {bytes, static_cast<size_t>(range.size())});
  }
}

// Puts pages where the node's ranks collect them: those that this rank has not written wholly, or
// all that have bytes there already, which must not overtake these.
void SmallRequests::share_pages(ShareOf which) {
  for (auto page = pages_.begin(); page != pages_.end();) {
    const auto& [index, kept] = *page;
    const bool is_whole = kept.written.size() == 1 && kept.written.front().size() == page_bytes_;
    if (which == ShareOf::kPartial ? is_whole : !is_shared(index)) {
      ++page;
      continue;
    }
    put_together(index, kept);
    page = recycle(page);
  }
  kept_bytes_ = pages_.empty() ? 0 : kept_bytes_;
}

// What ends there is shared before a write that doesn't follow the one before it. So is the write
// itself where that one followed none either. False where this rank is to keep it alone.
bool SmallRequests::share(ByteRange range, const std::byte* data, bool follows) {
  const bool followed = std::exchange(follows_, follows);
  if (options_.together == nullptr || follows) {
    return false;
  }
  share_pages(ShareOf::kPartial);
  const auto page = pages_.lower_bound(range.begin / page_bytes_);
  if (followed || (page != pages_.end() && page->first * page_bytes_ < range.end)) {
    return false;
  }
  options_.together->put(range.begin, {data, static_cast<size_t>(range.size())});
  return true;
}

Status SmallRequests::write(int64_t offset, std::span<const std::byte> data, Status& late) {
  const auto bytes = static_cast<int64_t>(data.size());
  if (data.empty()) {
    return {};
  }
  const bool follows = std::exchange(last_end_, offset + bytes) == offset;
  if (bytes <= options_.largest_bytes && offset < kFarOffset) {
    note_late(late);
    if (share({offset, offset + bytes}, data.data(), follows)) {
      return {};
    }
    if (!has_room({offset, offset + bytes})) {
      late.update(write_own_out());
    }
    if (keep(offset, data)) {
      kept_bytes_ += bytes;
      return {};
    }
    late.update(write_out());
  } else if (have_part_of({offset, offset + bytes})) {
    late.update(write_out());
  }
  const WriteSegment segment{offset, data.data(), bytes};
  Status written = options_.write({&segment, 1});
  begin_fetching_anew();
  return written;
}

Status SmallRequests::write_out() {
  if (!keeps()) {
    return {};
  }
  if (options_.together == nullptr) {
    return write_own_out();
  }
  if (options_.together->keeps()) {
    share_pages(ShareOf::kPartial);
  }
  Status written = write_own_out();
  options_.together->write_out();
  note_late(written);
  begin_fetching_anew();
  return written;
}

// All that lies in this rank's own pages.
Status SmallRequests::write_own_out() {
  if (options_.together != nullptr) {
    share_pages(ShareOf::kShared);
  }
  if (pages_.empty()) {
    return {};
  }
  Status written;
  try {
    std::vector<WriteSegment> list;
    for (const auto& [index, page] : pages_) {
      for (const ByteRange range : page.written) {
        list.push_back({range.begin, page.bytes.get() + (range.begin - index * page_bytes_), range.size()});
      }
    }
    written = options_.write(list);
  } catch (const std::bad_alloc&) {
    // The pages are written one by one, because there is no memory for the list.
    for (const auto& [index, page] : pages_) {
      for (const ByteRange range : page.written) {
        const WriteSegment segment{range.begin, page.bytes.get() + (range.begin - index * page_bytes_), range.size()};
        written.update(options_.write({&segment, 1}));
      }
    }
  }
  recycle_pages();
  begin_fetching_anew();
  return written;
}

// Gives a page's memory to the next one: fresh memory costs as much as the copy into it.
SmallRequests::Pages::iterator SmallRequests::recycle(Pages::iterator page) {
  for (const ByteRange range : page->second.written) {
    kept_bytes_ -= range.size();
  }
  try {
    spare_.push_back(std::move(page->second.bytes));
  } catch (const std::bad_alloc&) {
    page->second.bytes.reset();
  }
  last_page_ = nullptr;
  last_index_ = -1;
  return pages_.erase(page);
}

void SmallRequests::recycle_pages() {
  while (!pages_.empty()) {
    recycle(pages_.begin());
  }
  kept_bytes_ = 0;
}

void SmallRequests::forget() {
  if (options_.fetched != nullptr) {
    options_.fetched->forget();
  }
}

bool SmallRequests::have_part_of(ByteRange range) const {
  auto page = pages_.lower_bound(range.begin / page_bytes_);
  for (; page != pages_.end() && page->first * page_bytes_ < range.end; ++page) {
    if (has_part_of(page->second.written, range)) {
      return true;
    }
  }
  return options_.together != nullptr && options_.together->has_page_of(range);
}

// Copies a range of which all has been written; false where not all has.
bool SmallRequests::copy_written(ByteRange range, std::byte* data) const {
  const auto part_of = [&](int64_t index) { return intersect(range, {index * page_bytes_, (index + 1) * page_bytes_}); };
  const int64_t first = range.begin / page_bytes_;
  const int64_t last = (range.end - 1) / page_bytes_;
  for (int64_t index = first; index <= last; ++index) {
    const auto page = pages_.find(index);
    if (page == pages_.end() || !has_all_of(page->second.written, part_of(index))) {
      return false;
    }
  }
  for (int64_t index = first; index <= last; ++index) {
    const ByteRange part = part_of(index);
    const std::byte* const bytes = pages_.find(index)->second.bytes.get() + (part.begin - index * page_bytes_);
    std::memcpy(data + (part.begin - range.begin), bytes, static_cast<size_t>(part.size()));
  }
  return true;
}

// Puts what is kept of a range over what the storage has there.
void SmallRequests::put_written_over(ByteRange range, std::byte* data) const {
  if (options_.together != nullptr) {
    options_.together->put_over(range, data);
  }
  auto page = pages_.lower_bound(range.begin / page_bytes_);
  for (; page != pages_.end() && page->first * page_bytes_ < range.end; ++page) {
    const std::vector<ByteRange>& written = page->second.written;
    auto piece = std::lower_bound(written.begin(), written.end(), range.begin,
                                  [](ByteRange before, int64_t at) { return before.end <= at; });
    for (; piece != written.end() && piece->begin < range.end; ++piece) {
      const ByteRange both = intersect(*piece, range);
      const std::byte* const bytes = page->second.bytes.get() + (both.begin - page->first * page_bytes_);
      std::memcpy(data + (both.begin - range.begin), bytes, static_cast<size_t>(both.size()));
    }
  }
}

Result<int64_t> SmallRequests::read_storage(ByteRange range, std::byte* data, Status& late) {
  if (have_part_of(range)) {
    late.update(write_out());
  }
  const ReadSegment segment{range.begin, data, range.size()};
  const bool has_kept = keeps();
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, options_.read({&segment, 1}));
  if (bytes == range.size() || !has_kept) {
    return bytes;
  }
  late.update(write_out());  // the file may end behind what is kept
  return options_.read({&segment, 1});
}

Result<int64_t> SmallRequests::read_fetched(ByteRange range, std::byte* data, Status& late) {
  int64_t bytes = 0;
  if (were_sent(options_.together.get())) {
    begin_fetching_anew();
  }
  do {
    STRIA_ASSIGN_OR_RETURN(bytes, options_.fetched->read(range, data));
    if (keeps() && bytes < range.size()) {
      late.update(write_out());  // the file may end behind what is kept
      STRIA_ASSIGN_OR_RETURN(bytes, options_.fetched->read(range, data));
    } else if (keeps()) {
      put_written_over(range, data);
    }
    if (!were_sent(options_.together.get())) {
      return bytes;
    }
    begin_fetching_anew();
  } while (true);
}

Result<int64_t> SmallRequests::read(int64_t offset, std::span<std::byte> data, Status& late) {
  const ByteRange range{offset, offset + static_cast<int64_t>(data.size())};
  if (range.empty()) {
    return 0;
  }
  if (options_.make_fetched) {
    options_.fetched = std::exchange(options_.make_fetched, {})();
  }
  if (range.size() > options_.largest_bytes || offset >= kFarOffset || options_.fetched == nullptr) {
    return read_storage(range, data.data(), late);
  }
  if (!pages_.empty() && copy_written(range, data.data())) {
    return range.size();
  }
  if (options_.together != nullptr && pages_.empty() && options_.together->copy_all(range, data.data())) {
    return range.size();
  }
  return read_fetched(range, data.data(), late);
}

}  // namespace stria::storage
