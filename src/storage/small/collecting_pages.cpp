#include "storage/small/collecting_pages.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/check.hpp"
#include "comm/pause.hpp"

namespace stria::storage {

namespace {

// A list of so many bytes keeps all servers busy.
constexpr int64_t kEnoughToSendBytes = 2 << 20;
// A list takes no more than this part of the table.
constexpr int64_t kTableParts = 4;
// While other ranks make pages whole, but none of this rank's, it waits for no more than so many.
constexpr int kMostOfOthers = 16;
constexpr int64_t kMostJointPages = 1024;

}  // namespace

CollectingPages::CollectingPages(Options options)
    : options_(std::move(options)),
      table_(options_.memory),
      enough_pages_(std::clamp<int64_t>(kEnoughToSendBytes / table_.page_bytes(), 1,
                                        std::max<int64_t>(table_.page_count() / kTableParts, 1))),
      sent_seen_(table_.rank(options_.rank).sent.load()) {
  chosen_.reserve(static_cast<size_t>(table_.page_count()));
}

void CollectingPages::put(int64_t offset, std::span<const std::byte> data) {
  const int64_t end = offset + static_cast<int64_t>(data.size());
  for (int64_t at = offset; at < end;) {
    const ByteRange part{at, std::min(end, (at / table_.page_bytes() + 1) * table_.page_bytes())};
    while (!put_part(part, data.data() + (at - offset))) {
    }
    at = part.end;
  }
}

// False where that has to wait for something, which it has done.
bool CollectingPages::put_part(ByteRange part, const std::byte* data) {
  const int64_t index = part.begin / table_.page_bytes();
  int64_t sender = -1;
  uint32_t seen = 0;
  bool is_due = false;
  {
    const PageTable::Lock lock(table_);
    int64_t found = table_.find(index);
    is_due = table_.whole_pages() >= enough_pages_;
    if (found < 0 && !is_due) {
      found = table_.begin_page(index);
    }
    if (found >= 0 && table_.slot(found).use == PageTable::Use::kCollecting) {
      table_.copy_in(found, options_.rank, part, data);
      return true;
    }
    sender = found >= 0 ? table_.slot(found).sender : -1;
    seen = table_.changes().load();
  }
  if (sender >= 0) {
    wait_for_sender(sender, seen);
  } else if (is_due) {
    send(Which::kWhole);
  } else {
    make_room(seen);
  }
  return false;
}

// Makes room where no place is free for another page.
void CollectingPages::make_room(uint32_t seen) {
  if (wait_for_others(seen) || send(Which::kWhole) || send(Which::kOldest)) {
    return;
  }
  int64_t sender = -1;
  {
    const PageTable::Lock lock(table_);
    for (int64_t number = 0; number < table_.page_count() && sender < 0; ++number) {
      const PageTable::Slot& slot = table_.slot(number);
      sender = slot.use == PageTable::Use::kSending ? slot.sender : -1;
    }
  }
  if (sender >= 0) {
    wait_for_sender(sender, seen);
  }
}

// Waits until a page has become whole or was sent. False after a moment in which none has; the more
// often that has been in vain, the more pages must become whole by several ranks before the next.
bool CollectingPages::wait_for_others(uint32_t seen) {
  const int64_t joint = table_.joint_pages();
  if (table_.rank_count() == 1 || joint < joint_wanted_) {
    return false;
  }
  if (sleep_while(table_.changes(), seen)) {
    joint_step_ = 1;
    return true;
  }
  joint_wanted_ = joint + joint_step_;
  joint_step_ = std::min(2 * joint_step_, kMostJointPages);
  return false;
}

// Waits for a page that is on its way. Where its sender has died, the page collects again.
void CollectingPages::wait_for_sender(int64_t sender, uint32_t seen) {
  if (sleep_while(table_.changes(), seen)) {
    return;
  }
  pthread_mutex_t* const sending = &table_.rank(sender).sending;
  const int error = pthread_mutex_trylock(sending);
  if (error == EBUSY) {
    return;
  }
  if (error == EOWNERDEAD) {
    pthread_mutex_consistent(sending);
  }
  {
    const PageTable::Lock lock(table_);
    table_.take_back_from(sender);
  }
  pthread_mutex_unlock(sending);
}

// Chooses the pages that are sent next, in the order of the file.
void CollectingPages::choose(Which which) {
  chosen_.clear();
  for (int64_t number = 0; number < table_.page_count(); ++number) {
    const bool is_own_only = which == Which::kOwn || which == Which::kOwnWhole;
    const bool is_whole_only = which == Which::kWhole || which == Which::kOwnWhole;
    if (table_.slot(number).use == PageTable::Use::kCollecting && (!is_whole_only || table_.is_whole(number)) &&
        (!is_own_only || table_.has_bytes_of(number, options_.rank))) {
      chosen_.push_back(number);
    }
  }
  const auto by_place = [&](int64_t a, int64_t b) { return table_.slot(a).index.load() < table_.slot(b).index.load(); };
  const auto by_use = [&](int64_t a, int64_t b) { return table_.slot(a).last_use < table_.slot(b).last_use; };
  if (which == Which::kOldest) {
    std::sort(chosen_.begin(), chosen_.end(), by_use);
  } else {
    std::sort(chosen_.begin(), chosen_.end(), by_place);
  }
  if (static_cast<int64_t>(chosen_.size()) > enough_pages_) {
    chosen_.resize(static_cast<size_t>(enough_pages_));
  }
  if (which == Which::kOldest) {
    std::sort(chosen_.begin(), chosen_.end(), by_place);
  }
}

// False where there are none.
bool CollectingPages::send(Which which) {
  const RobustMutexLock sending(&table_.rank(options_.rank).sending);
  {
    const PageTable::Lock lock(table_);
    choose(which);
    for (const int64_t number : chosen_) {
      table_.begin_sending(number, options_.rank);
    }
  }
  if (chosen_.empty()) {
    return false;
  }
  const Status sent = write_chosen();
  {
    const PageTable::Lock lock(table_);
    for (const int64_t number : chosen_) {
      table_.end_page(number, sent);
    }
  }
  table_.note_change();
  return true;
}

Status CollectingPages::write_chosen() {
  try {
    std::vector<WriteSegment> list;
    for (const int64_t number : chosen_) {
      const ByteRange page = table_.range_of(number);
      table_.for_each_range(number, page, [&](ByteRange range) {
        list.push_back({range.begin, table_.bytes(number) + (range.begin - page.begin), range.size()});
      });
    }
    return list.empty() ? Status() : options_.write(list);
  } catch (const std::bad_alloc&) {
    return write_one_by_one();
  }
}

// Writes the pages one by one where there is no memory for the list.
Status CollectingPages::write_one_by_one() {
  Status written;
  for (const int64_t number : chosen_) {
    const ByteRange page = table_.range_of(number);
    table_.for_each_range(number, page, [&](ByteRange range) {
      const WriteSegment segment{range.begin, table_.bytes(number) + (range.begin - page.begin), range.size()};
      written.update(options_.write({&segment, 1}));
    });
  }
  return written;
}

CollectingPages::Own CollectingPages::own_pages() const {
  const PageTable::Lock lock(table_);
  Own own{.seen = table_.changes().load()};
  for (int64_t number = 0; number < table_.page_count(); ++number) {
    const PageTable::Slot& slot = table_.slot(number);
    if (slot.use == PageTable::Use::kFree || !table_.has_bytes_of(number, options_.rank)) {
      continue;
    }
    if (slot.use == PageTable::Use::kSending) {
      own.sender = slot.sender;
    } else {
      ++(table_.is_whole(number) ? own.whole : own.partial);
    }
  }
  return own;
}

void CollectingPages::write_out() {
  int64_t fewest = table_.page_count() + 1;
  int in_vain = 0;
  while (table_.rank(options_.rank).pages.load() > 0) {
    const Own own = own_pages();
    in_vain = own.partial < fewest ? 0 : in_vain + 1;
    fewest = std::min(fewest, own.partial);
    if (own.whole >= enough_pages_) {
      send(Which::kOwnWhole);
    } else if (own.whole + own.partial > 0) {
      const bool waits = own.partial > 0 && in_vain < kMostOfOthers;
      if (!waits || !wait_for_others(own.seen)) {
        send(Which::kOwn);
      }
    } else if (own.sender >= 0) {
      wait_for_sender(own.sender, own.seen);
    }
  }
}

Status CollectingPages::take_error() {
  PageTable::Rank& self = table_.rank(options_.rank);
  if (self.error.load() == 0) {
    return {};
  }
  const PageTable::Lock lock(table_);
  Status error(static_cast<ErrorCode>(self.error.load()), self.message, self.reason);
  self.error.store(0);
  return error;
}

bool CollectingPages::keeps() const {
  const PageTable::Rank& self = table_.rank(options_.rank);
  return self.pages.load() > 0 || self.error.load() != 0;
}

bool CollectingPages::were_sent() {
  const uint64_t sent = table_.rank(options_.rank).sent.load();
  return std::exchange(sent_seen_, sent) != sent;
}

bool CollectingPages::has_page_of(ByteRange range) const {
  if (table_.rank(options_.rank).pages.load() == 0) {
    return false;
  }
  const PageTable::Lock lock(table_);
  for (int64_t index = range.begin / table_.page_bytes(); index * table_.page_bytes() < range.end; ++index) {
    const int64_t found = table_.find(index);
    if (found >= 0 && table_.has_bytes_of(found, options_.rank)) {
      return true;
    }
  }
  return false;
}

bool CollectingPages::copy_all(ByteRange range, std::byte* data) const {
  if (table_.rank(options_.rank).pages.load() == 0) {
    return false;
  }
  const PageTable::Lock lock(table_);
  for (int64_t at = range.begin; at < range.end;) {
    const int64_t found = table_.find(at / table_.page_bytes());
    if (found < 0 || !table_.has_bytes_of(found, options_.rank)) {
      return false;
    }
    const ByteRange part = intersect({at, range.end}, table_.range_of(found));
    if (!table_.has_all_of(found, part)) {
      return false;
    }
    const std::byte* const bytes = table_.bytes(found) + (part.begin - table_.range_of(found).begin);
    std::memcpy(data + (part.begin - range.begin), bytes, static_cast<size_t>(part.size()));
    at = part.end;
  }
  return true;
}

void CollectingPages::put_over(ByteRange range, std::byte* data) const {
  if (table_.rank(options_.rank).pages.load() == 0) {
    return;
  }
  const PageTable::Lock lock(table_);
  for (int64_t index = range.begin / table_.page_bytes(); index * table_.page_bytes() < range.end; ++index) {
    const int64_t found = table_.find(index);
    if (found < 0 || !table_.has_bytes_of(found, options_.rank)) {
      continue;
    }
    table_.for_each_range(found, range, [&](ByteRange part) {
      const std::byte* const bytes = table_.bytes(found) + (part.begin - index * table_.page_bytes());
      std::memcpy(data + (part.begin - range.begin), bytes, static_cast<size_t>(part.size()));
    });
  }
}

}  // namespace stria::storage
