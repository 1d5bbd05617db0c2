#include <algorithm>
#include <optional>

#include "access/failure/memory_reserve.hpp"
#include "access/failure/moved_prefix.hpp"
#include "access/request/overlap.hpp"
#include "access/together/node/node_windows.hpp"
#include "access/together/window/window_copy.hpp"
#include "base/check.hpp"
#include "trace/record/phase_timer.hpp"

namespace stria::access {

/// One rank's side of one collective read.
class NodeRead {
 public:
  NodeRead(NodeWindows& windows, Context& context, const Lane& lane, StreamSink& sink)
      : windows_(windows),
        state_(*windows.state_),
        context_(context),
        lane_(lane),
        rounds_(lane.hull, windows.window_bytes_, windows.read_rounds_),
        copy_(Endpoint::of_read(sink), kWindowCopy) {
    memory_.attempt([&] { mine_.emplace(0, lane.streams); });
  }

  Moved run() {
    for (int64_t round = 0; round < rounds_.count(); ++round) {
      NodeWindows::Slot& slot = slot_of(round);
      const NodeRounds::Place place = rounds_.place(round);
      overlaps_.clear();
      if (mine_) {
        memory_.attempt([&] { overlaps(*mine_, place.file, overlaps_); });
      }
      if (!overlaps_.empty() && !memory_.ran_out()) {
        see_filled(round);
        take(slot, place, windows_.buffer(rounds_.slot(round)));
      } else {
        see_taken_before(round);
      }
      if (memory_.ran_out()) {
        lose_behind(place.file.begin);
      }
      const uint64_t taken = slot.taken.fetch_add(1) + 1;
      // Else a rank is in another operation.
      STRIA_CHECK(taken <= uses_end(round), round, taken, uses_end(round));
      if (taken == uses_end(round)) {
        tell();  // a rank may be waiting for the buffer
      }
    }
    windows_.read_rounds_ += rounds_.count();
    return settle();
  }

 private:
  NodeWindows::Slot& slot_of(int64_t round) { return state_.slots[rounds_.slot(round)]; }
  /// Returns how often the window has been taken when this use of it begins and ends.
  uint64_t uses_begin(int64_t round) const { return static_cast<uint64_t>(rounds_.use(round) * windows_.rank_count_); }
  uint64_t uses_end(int64_t round) const { return uses_begin(round) + static_cast<uint64_t>(windows_.rank_count_); }

  // Returns when the round's window has been read, by this rank or another.
  void see_filled(int64_t round) {
    const NodeWindows::Slot& slot = slot_of(round);
    wait_until(round, [&] { return slot.filled.load() == static_cast<uint32_t>(rounds_.use(round) + 1); });
  }

  // Returns when all ranks have taken their bytes of the buffer's previous use, so that no rank
  // counts itself in too early.
  void see_taken_before(int64_t round) {
    const NodeWindows::Slot& slot = slot_of(round);
    wait_until(round, [&] { return slot.taken.load() >= uses_begin(round); });
  }

  // A rank that waits reads what comes next.
  template <typename Done>
  void wait_until(int64_t round, Done&& done) {
    while (true) {
      const uint32_t seen = state_.read_events.load();
      if (done()) {
        return;
      }
      if (!read_next(round)) {
        PhaseTimer timer(context_.times, Phase::kExchange);
        context_.comm.wait_while(state_.read_events, seen);
      }
    }
  }

  void tell() {
    state_.read_events.fetch_add(1);
    context_.comm.wake(state_.read_events);
  }

  // Reads the next window that no rank has begun to read, if its buffer is free; false when
  // there is none.
  bool read_next(int64_t round) {
    int64_t next = state_.next_read.load();
    const int64_t ahead = next - rounds_.first;
    if (ahead >= std::min(rounds_.count(), round + NodeWindows::kWindows) || !is_free(ahead)) {
      return false;
    }
    if (state_.next_read.compare_exchange_strong(next, next + 1)) {
      read(ahead);
    }
    return true;
  }

  // The buffer's last use was read, even if no rank wanted it, and taken by all.
  bool is_free(int64_t round) {
    const NodeWindows::Slot& slot = slot_of(round);
    return slot.filled.load() == static_cast<uint32_t>(rounds_.use(round)) && slot.taken.load() >= uses_begin(round);
  }

  void read(int64_t round) {
    NodeWindows::Slot& slot = slot_of(round);
    const NodeRounds::Place place = rounds_.place(round);
    const bool is_lost = state_.failed_read.load() == rounds_.first + 1;  // No rank reads on then.
    slot.file_end = is_lost ? NodeWindows::kFailed : kNoEnd;
    if (!is_lost && slot.taken.load() < uses_end(round)) {  // Otherwise no rank wanted it.
      PhaseTimer timer(context_.times, Phase::kRead);
      std::byte* data = windows_.buffer(rounds_.slot(round)) + (place.file.begin - place.origin);
      storage::ReadSegment whole{place.file.begin, data, place.file.size()};
      auto read_bytes = context_.file->read(std::span(&whole, 1));
      if (!read_bytes.ok()) {
        moved_.status.update(read_bytes.status());
        slot.file_end = NodeWindows::kFailed;
        state_.failed_read.store(rounds_.first + 1);
      } else if (*read_bytes < whole.bytes) {
        STRIA_CHECK(*read_bytes >= 0, *read_bytes);
        slot.file_end = whole.offset + *read_bytes;
      }
    }
    slot.filled.store(static_cast<uint32_t>(rounds_.use(round) + 1));
    tell();
  }

  void take(const NodeWindows::Slot& slot, const NodeRounds::Place& place, std::byte* buffer) {
    const int64_t end = slot.file_end;
    if (end == NodeWindows::kFailed) {
      lose_behind(place.file.begin);
      stopped_ = true;
    }
    if (stopped_) {
      return;
    }
    PhaseTimer timer(context_.times, Phase::kUnpack);
    memory_.attempt([&] {
      copy_.begin();
      for (Overlap& overlap : overlaps_) {
        if (const int64_t stop = end == kNoEnd ? overlap.end : position_of(*overlap.stream, end); stop < overlap.end) {
          overlap.end = std::max(stop, overlap.begin);
          taken_.miss(*overlap.stream, overlap.end);
        }
        if (overlap.begin < overlap.end) {
          copy_.copy(overlap, buffer, place.origin);
        }
      }
      copy_.finish();
    });
  }

  // Windows come by increasing offset: the first loss counts.
  void lose_behind(int64_t file_offset) { lost_end_ = std::min(lost_end_, file_offset); }

  Moved settle() {
    if (memory_.ran_out() && moved_.status.ok()) {
      moved_.status = memory_.status();
    }
    const bool failed = windows_.is_true_anywhere(context_.comm, !moved_.status.ok());
    if (context_.comm.rank() == 0) {
      skip_unread();
    }
    if (failed) {
      moved_.status = context_.comm.agree(moved_.status);
      if (lost_end_ != kNoEnd) {
        taken_.miss_behind(lane_.streams, lost_end_);
      }
    }
    moved_.bytes = taken_.bytes({&lane_, 1});
    return moved_;
  }

  // Sets the counts as if all windows had been used, when the operation ends: the last ones may not
  // have been wanted, nor read. No rank looks before the next meeting.
  void skip_unread() {
    state_.next_read.store(windows_.read_rounds_);
    for (int64_t i = 0; i < NodeWindows::kWindows; ++i) {
      const int64_t next = windows_.read_rounds_ + i;
      state_.slots[next % NodeWindows::kWindows].filled.store(static_cast<uint32_t>(next / NodeWindows::kWindows));
    }
  }

  NodeWindows& windows_;
  NodeWindows::State& state_;
  Context& context_;
  const Lane& lane_;
  NodeRounds rounds_;
  WindowCopy copy_;
  MemoryReserve memory_;
  Moved moved_;
  bool stopped_ = false;
  // This rank has lost the file's bytes from this offset on, by a failure.
  int64_t lost_end_ = kNoEnd;
  MovedPrefix taken_;                    // up to where the file was found to end
  std::optional<LaneDescription> mine_;  // without value where there was no memory for it
  std::vector<Overlap> overlaps_;
};

Moved NodeWindows::read(Context& context, const Lane& lane, StreamSink& sink) {
  return NodeRead(*this, context, lane, sink).run();
}

}  // namespace stria::access
