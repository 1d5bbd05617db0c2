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
// What lies between two reads of a window costs less than a request of its own.
constexpr int64_t kLongestGapBytes = 32 << 10;
// A list of so many bytes keeps all servers busy, and its pages stay in the processor's cache.
constexpr int64_t kEnoughBytes = 2 << 20;
constexpr int64_t kFirstWindowBytes = 128 << 10;
constexpr int64_t kLongestWindowBytes = 4 << 20;
// No file has bytes so far out, and sums of offsets stay exact before.
constexpr int64_t kFarOffset = int64_t{1} << 61;
// Pages and windows have a half of the memory each.
constexpr int64_t kParts = 2;

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

// Whether one range of the list has the whole of another.
bool has_all_of(const std::vector<ByteRange>& ranges, ByteRange wanted) {
  const auto found =
      std::lower_bound(ranges.begin(), ranges.end(), wanted.end, [](ByteRange range, int64_t at) { return range.end < at; });
  return found != ranges.end() && found->begin <= wanted.begin;
}

bool has_part_of(const std::vector<ByteRange>& ranges, ByteRange wanted) {
  return std::any_of(ranges.begin(), ranges.end(), [&](ByteRange range) { return overlap(range, wanted); });
}

int64_t page_bytes_for(int64_t stripe_bytes) {
  return stripe_bytes > 0 ? std::gcd(stripe_bytes, kLargestPageBytes) : kLargestPageBytes;
}

}  // namespace

SmallRequests::SmallRequests(Options options)
    : options_(std::move(options)),
      page_bytes_(page_bytes_for(options_.stripe_bytes)),
      most_pages_(options_.memory_bytes / kParts / page_bytes_),
      most_window_bytes_(
          std::min(options_.memory_bytes / kParts / int64_t{std::tuple_size_v<decltype(windows_)>}, kLongestWindowBytes)) {
  STRIA_ASSERT(options_.memory_bytes >= kLeastMemoryBytes, options_.memory_bytes);
}

int64_t SmallRequests::memory_bytes() const {
  int64_t bytes = static_cast<int64_t>(pages_.size() + spare_.size()) * page_bytes_;
  for (const Window& window : windows_) {
    bytes += static_cast<int64_t>(window.memory.size());
  }
  return bytes;
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

// Whether a write may add to what is kept: always where it stays in the page of the one before.
bool SmallRequests::has_room(ByteRange range) const {
  const int64_t first = range.begin / page_bytes_;
  const int64_t last = (range.end - 1) / page_bytes_;
  if (first == last && first == last_index_) {
    return true;
  }
  return kept_bytes_ < kEnoughBytes && static_cast<int64_t>(pages_.size()) + last - first + 1 <= most_pages_;
}

Status SmallRequests::write(int64_t offset, std::span<const std::byte> data, Status& late) {
  const auto bytes = static_cast<int64_t>(data.size());
  if (data.empty()) {
    return {};
  }
  change_windows(offset, data);
  if (bytes <= kLargestBytes && offset < kFarOffset) {
    if (!has_room({offset, offset + bytes})) {
      late.update(write_out());
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
  if (!written.ok()) {
    forget();  // windows have bytes that the file hasn't
  }
  return written;
}

Status SmallRequests::write_out() {
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
    // One by one, because there is no memory for the list.
    for (const auto& [index, page] : pages_) {
      for (const ByteRange range : page.written) {
        const WriteSegment segment{range.begin, page.bytes.get() + (range.begin - index * page_bytes_), range.size()};
        written.update(options_.write({&segment, 1}));
      }
    }
  }
  recycle_pages();
  if (!written.ok()) {
    forget();
  }
  return written;
}

// Fresh memory costs as much as the copy into it.
void SmallRequests::recycle_pages() {
  for (auto& [index, page] : pages_) {
    try {
      spare_.push_back(std::move(page.bytes));
    } catch (const std::bad_alloc&) {
      break;
    }
  }
  pages_.clear();
  kept_bytes_ = 0;
  last_page_ = nullptr;
  last_index_ = -1;
}

void SmallRequests::forget() {
  if (has_windows_) {
    for (Window& window : windows_) {
      window.bytes = 0;
      window.next = -1;
    }
    has_windows_ = false;
  }
}

bool SmallRequests::have_part_of(ByteRange range) const {
  auto page = pages_.lower_bound(range.begin / page_bytes_);
  for (; page != pages_.end() && page->first * page_bytes_ < range.end; ++page) {
    if (has_part_of(page->second.written, range)) {
      return true;
    }
  }
  return false;
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

bool SmallRequests::copy_window(ByteRange range, std::byte* data) {
  for (Window& window : windows_) {
    if (window.bytes > 0 && window.begin <= range.begin && range.end <= window.begin + window.bytes) {
      std::memcpy(data, window.memory.data() + (range.begin - window.begin), static_cast<size_t>(range.size()));
      window.next = range.end;
      window.last_use = ++uses_;
      return true;
    }
  }
  return false;
}

// The window of a program that reads on there. Where there is none, the one that has been used
// least begins anew.
SmallRequests::Window* SmallRequests::window_before(ByteRange range) {
  Window* oldest = &windows_.front();
  for (Window& window : windows_) {
    if (window.next >= 0 && window.next <= range.begin && range.begin - window.next <= kLongestGapBytes) {
      return &window;
    }
    if (window.last_use < oldest->last_use) {
      oldest = &window;
    }
  }
  oldest->bytes = 0;
  oldest->fetch_bytes = 0;
  oldest->next = range.end;
  oldest->last_use = ++uses_;
  has_windows_ = true;
  return nullptr;
}

Result<int64_t> SmallRequests::read_storage(ByteRange range, std::byte* data, Status& late) {
  if (have_part_of(range)) {
    late.update(write_out());
  }
  const ReadSegment segment{range.begin, data, range.size()};
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, options_.read({&segment, 1}));
  if (bytes == range.size() || pages_.empty()) {
    return bytes;
  }
  late.update(write_out());  // the file may end behind what is kept
  return options_.read({&segment, 1});
}

Result<int64_t> SmallRequests::fetch(Window& window, ByteRange range, std::byte* data, Status& late) {
  window.fetch_bytes = std::clamp(2 * window.fetch_bytes, std::min(kFirstWindowBytes, most_window_bytes_), most_window_bytes_);
  const int64_t end = align_up(range.begin + window.fetch_bytes, page_bytes_);
  const ByteRange wanted{range.begin,
                         std::max(range.end, end - range.begin <= most_window_bytes_ ? end : range.begin + window.fetch_bytes)};
  window.bytes = 0;
  window.memory.resize(std::max(window.memory.size(), static_cast<size_t>(wanted.size())));
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, read_storage(wanted, window.memory.data(), late));
  const int64_t own = std::clamp<int64_t>(bytes, 0, range.size());
  std::memcpy(data, window.memory.data(), static_cast<size_t>(own));
  window.begin = range.begin;
  window.bytes = bytes;
  window.next = range.end;
  window.last_use = ++uses_;
  has_windows_ = true;
  return own;
}

Result<int64_t> SmallRequests::read(int64_t offset, std::span<std::byte> data, Status& late) {
  const ByteRange range{offset, offset + static_cast<int64_t>(data.size())};
  if (range.empty()) {
    return 0;
  }
  if (range.size() > kLargestBytes || offset >= kFarOffset) {
    return read_storage(range, data.data(), late);
  }
  if (copy_window(range, data.data()) || (!pages_.empty() && copy_written(range, data.data()))) {
    return range.size();
  }
  Window* const window = window_before(range);
  if (window != nullptr) {
    try {
      auto fetched = fetch(*window, range, data.data(), late);
      if (fetched.ok()) {
        return fetched;
      }
    } catch (const std::bad_alloc&) {
      window->memory = {};
    }
    // What lies ahead need not be what was asked for.
    window->next = range.end;
  }
  return read_storage(range, data.data(), late);
}

// Windows have what this rank has written since they were read.
void SmallRequests::change_windows(int64_t offset, std::span<const std::byte> data) {
  if (!has_windows_) {
    return;
  }
  const ByteRange range{offset, offset + static_cast<int64_t>(data.size())};
  for (Window& window : windows_) {
    const ByteRange both = intersect(range, {window.begin, window.begin + window.bytes});
    if (!both.empty()) {
      std::memcpy(window.memory.data() + (both.begin - window.begin), data.data() + (both.begin - offset),
                  static_cast<size_t>(both.size()));
    }
  }
}

}  // namespace stria::storage
