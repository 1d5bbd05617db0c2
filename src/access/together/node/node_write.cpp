#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "access/failure/memory_reserve.hpp"
#include "access/failure/moved_prefix.hpp"
#include "access/locks/write_lock.hpp"
#include "access/request/overlap.hpp"
#include "access/together/node/node_windows.hpp"
#include "access/together/window/window_copy.hpp"
#include "access/together/window/window_writer.hpp"
#include "base/check.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

namespace {

constexpr int64_t kMapWordBits = 64;

}  // namespace

/// One rank's side of one collective write.
class NodeWrite {
 public:
  NodeWrite(NodeWindows& windows, Context& context, const Lane& lane, int64_t granule_bytes, StreamSource& source)
      : windows_(windows),
        state_(*windows.state_),
        context_(context),
        lane_(lane),
        rounds_(lane.hull, windows.window_bytes_, windows.write_rounds_),
        granule_bytes_(granule_bytes),
        operation_(windows.write_operations_ + 1),
        copy_(Endpoint::of_write(source), kWindowCopy) {
    memory_.attempt([&] {
      mine_.emplace(0, lane.streams);
      own_bits_.resize(static_cast<size_t>((windows.window_bytes_ / granule_bytes + kMapWordBits - 1) / kMapWordBits));
    });
  }

  Moved run() {
    for (int64_t round = 0; round < rounds_.count(); ++round) {
      NodeWindows::Slot& slot = slot_of(round);
      wait_until_written(slot, rounds_.use(round));
      fill(round, slot);
      const uint64_t packed = slot.packed.fetch_add(1) + 1;
      // Else a rank is in another operation.
      STRIA_CHECK(packed <= full_count(round), round, packed, full_count(round));
      if (packed == full_count(round)) {
        write_ready();
      }
    }
    windows_.write_operations_ = operation_;
    windows_.write_rounds_ += rounds_.count();
    return settle();
  }

 private:
  NodeWindows::Slot& slot_of(int64_t round) { return state_.slots[rounds_.slot(round)]; }
  uint64_t full_count(int64_t round) const { return static_cast<uint64_t>((rounds_.use(round) + 1) * windows_.rank_count_); }
  bool failed() const { return state_.failed_operation.load() == operation_; }

  void fail(const Status& status) {
    status_.update(status);
    state_.failed_operation.store(operation_);
  }

  // The window's buffer is free when so many uses of it have been written.
  void wait_until_written(NodeWindows::Slot& slot, int64_t uses) {
    PhaseTimer timer(context_.times, Phase::kExchange);
    for (uint32_t now = slot.written.load(); now != static_cast<uint32_t>(uses); now = slot.written.load()) {
      context_.comm.wait_while(slot.written, now);
    }
  }

  // Puts this rank's bytes of the window into the buffer and marks them.
  void fill(int64_t round, NodeWindows::Slot& slot) {
    if (memory_.ran_out() || failed()) {
      if (memory_.ran_out()) {
        fail(memory_.status());
      }
      return;
    }
    PhaseTimer timer(context_.times, Phase::kPack);
    const NodeRounds::Place place = rounds_.place(round);
    memory_.attempt([&] {
      overlaps_.clear();
      overlaps(*mine_, place.file, overlaps_);
      std::byte* buffer = windows_.buffer(rounds_.slot(round));
      copy_.begin();
      for (const Overlap& overlap : overlaps_) {
        copy_.copy(overlap, buffer, place.origin);
        mark(overlap, place.origin);
      }
      copy_.finish();
      merge(windows_.bits(rounds_.slot(round)), slot);
    });
    if (memory_.ran_out()) {
      fail(memory_.status());
    }
  }

  void mark(const Overlap& overlap, int64_t origin) {
    for_each_row(overlap, [&](const PieceRow& row, int64_t) {
      for (int64_t i = 0; i < row.count; ++i) {
        mark_range(row.begin + i * row.stride - origin, row.piece_bytes);
      }
    });
  }

  void mark_range(int64_t begin, int64_t bytes) {
    STRIA_ASSERT(begin >= 0 && bytes > 0 && begin % granule_bytes_ == 0 && bytes % granule_bytes_ == 0 &&
                     begin + bytes <= windows_.window_bytes_,
                 begin, bytes, granule_bytes_, windows_.window_bytes_);
    int64_t at = begin / granule_bytes_;
    const int64_t end = at + bytes / granule_bytes_;
    first_word_ = std::min(first_word_, at / kMapWordBits);
    last_word_ = std::max(last_word_, (end - 1) / kMapWordBits);
    while (at < end) {
      const int64_t word_begin = align_down(at, kMapWordBits);
      const int64_t stop = std::min(end, word_begin + kMapWordBits);
      own_bits_[static_cast<size_t>(at / kMapWordBits)] |= bits_between(at - word_begin, stop - word_begin);
      at = stop;
    }
  }

  // Adds this rank's bits to those of all, and counts the ones that are new.
  void merge(std::atomic<uint64_t>* bits, NodeWindows::Slot& slot) {
    int64_t covered = 0;
    for (int64_t word = first_word_; word <= last_word_; ++word) {
      uint64_t& own = own_bits_[static_cast<size_t>(word)];
      if (own != 0) {
        covered += std::popcount(own & ~bits[word].fetch_or(own));
        own = 0;
      }
    }
    slot.covered.fetch_add(covered);
    first_word_ = INT64_MAX;
    last_word_ = -1;
  }

  // Writes every window that all ranks have filled, in the order of the rounds. One rank writes at
  // a time; a rank that comes while another writes leaves its window to that one.
  void write_ready() {
    do {
      if (state_.writing.exchange(1) != 0) {
        return;
      }
      while (is_ready(state_.next_write - rounds_.first)) {
        write(state_.next_write++ - rounds_.first);
      }
      next_ = state_.next_write - rounds_.first;
      state_.writing.store(0);
    } while (is_ready(next_));
  }

  bool is_ready(int64_t round) { return round < rounds_.count() && slot_of(round).packed.load() >= full_count(round); }

  void write(int64_t round) {
    NodeWindows::Slot& slot = slot_of(round);
    const NodeRounds::Place place = rounds_.place(round);
    if (!failed()) {
      PhaseTimer timer(context_.times, Phase::kWrite);
      Status written;
      memory_.attempt([&] { written = write_window(place, slot, rounds_.slot(round)); });
      written.update(memory_.status());
      if (!written.ok()) {
        fail(written);
      }
    }
    if (!failed()) {
      state_.written_rounds = rounds_.absolute(round) + 1;
    }
    std::memset(static_cast<void*>(windows_.bits(rounds_.slot(round))), 0,
                static_cast<size_t>(word_count(place)) * sizeof(uint64_t));
    slot.covered.store(0);
    slot.written.store(static_cast<uint32_t>(rounds_.use(round) + 1));
    context_.comm.wake(slot.written);
  }

  int64_t word_count(const NodeRounds::Place& place) const {
    return ((place.file.end - place.origin + granule_bytes_ - 1) / granule_bytes_ + kMapWordBits - 1) / kMapWordBits;
  }

  Status write_window(const NodeRounds::Place& place, NodeWindows::Slot& slot, int number) {
    STRIA_CHECK(slot.covered.load() * granule_bytes_ <= place.file.size(), slot.covered.load(), granule_bytes_,
                place.file.begin, place.file.end);
    std::byte* base = windows_.buffer(number) + (place.file.begin - place.origin);
    if (slot.covered.load() * granule_bytes_ == place.file.size()) {
      STRIA_ASSIGN_OR_RETURN(const WriteLock lock, WriteLock::plain(context_, place.file));
      storage::WriteSegment whole{place.file.begin, base, place.file.size()};
      return context_.file->write(std::span(&whole, 1));
    }
    Coverage coverage(place.file);
    const std::atomic<uint64_t>* bits = windows_.bits(number);
    for (int64_t word = 0, count = word_count(place); word < count; ++word) {
      const uint64_t value = bits[word].load(std::memory_order_relaxed);
      for (int64_t low = 0; low < kMapWordBits && (value >> low) != 0;) {
        low += std::countr_zero(value >> low);
        const int64_t run = std::countr_one(value >> low);
        const int64_t begin = place.origin + (word * kMapWordBits + low) * granule_bytes_;
        coverage.add({begin, begin + run * granule_bytes_});
        low += run;
      }
    }
    return WindowWriter(context_).write_covered(place.file, coverage, base);
  }

  // Writes what is left, and agrees on the outcome; by messages if a rank failed.
  Moved settle() {
    Moved moved;
    if (!windows_.is_true_anywhere(context_.comm, !status_.ok())) {
      moved.bytes = total_bytes({&lane_, 1});
      return moved;
    }
    moved.status = context_.comm.agree(status_);
    moved.bytes = bytes_written();
    return moved;
  }

  // Counts, after a failure, this rank's bytes up to the first in a window that was not written.
  int64_t bytes_written() const {
    const int64_t rounds = std::clamp<int64_t>(state_.written_rounds - rounds_.first, 0, rounds_.count());
    MovedPrefix written;
    if (rounds < rounds_.count()) {
      written.miss_behind(lane_.streams, rounds_.place(rounds).file.begin);
    }
    return written.bytes({&lane_, 1});
  }

  NodeWindows& windows_;
  NodeWindows::State& state_;
  Context& context_;
  const Lane& lane_;
  NodeRounds rounds_;
  int64_t granule_bytes_;
  int64_t operation_;
  int64_t next_ = 0;
  WindowCopy copy_;
  MemoryReserve memory_;
  Status status_;
  std::optional<LaneDescription> mine_;  // without value where there was no memory for it
  std::vector<Overlap> overlaps_;
  std::vector<uint64_t> own_bits_;
  int64_t first_word_ = INT64_MAX;  // the first of own_bits_ that isn't zero
  int64_t last_word_ = -1;
};

Moved NodeWindows::write(Context& context, const Lane& lane, int64_t granule_bytes, StreamSource& source) {
  STRIA_CHECK(granule_bytes > 0 && window_bytes_ % granule_bytes == 0, granule_bytes, window_bytes_);
  return NodeWrite(*this, context, lane, granule_bytes, source).run();
}

}  // namespace stria::access
