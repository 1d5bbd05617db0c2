// Two-phase I/O among the ranks of one node, without messages and without aggregators.
//
// Problem: where all ranks share memory, sending descriptions, tokens and messages costs more than
// copying some megabytes, and ranks that wait for messages keep the processor from those that pack.
// Method: the file is walked in windows of some hundred kilobytes, which stay in the processor's
// cache. All ranks put their bytes of a window into one shared buffer; the last rank writes it with
// one request while the others fill the next. For a read, the first rank that needs a window reads
// it, and all pick out their bytes. Ranks wait on words in shared memory. One bit per granule tells
// which bytes of a window are covered; the granule is the largest power of two that divides every
// piece's place and size (granule.hpp). Each rank marks its own bits and merges them word by word,
// so that a count shows when a window is full. Holes stay as they are, as in window_writer.hpp.
// Cost per rank and window: one atomic addition, and a copy between memory and window.
// Memory: kWindows windows per node, made once per open file.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "access/context/context.hpp"
#include "access/together/domains/description.hpp"
#include "access/together/node/short_calls.hpp"
#include "base/check.hpp"
#include "comm/failure_word.hpp"
#include "comm/node_meeting.hpp"

namespace stria::access {

/// The windows of one operation: a grid laid over the file, and the slots that its
/// rounds use in turn.
struct NodeRounds {
  static constexpr int kSlots = 4;
  struct Place {
    int64_t origin = 0;  ///< the file offset of the buffer's first byte
    ByteRange file;      ///< what of the window lies in the extent
  };
  /// `first_round` rounds have been walked by earlier operations.
  NodeRounds(ByteRange whole, int64_t bytes, int64_t first_round)
      : extent(whole), window_bytes(bytes), grid_begin(align_down(whole.begin, bytes)), first(first_round) {}

  int64_t count() const { return extent.empty() ? 0 : (extent.end - grid_begin + window_bytes - 1) / window_bytes; }
  Place place(int64_t round) const {
    STRIA_ASSERT(0 <= round && round < count(), round, count());
    const int64_t origin = grid_begin + round * window_bytes;
    return {origin, intersect({origin, origin + window_bytes}, extent)};
  }
  /// Returns the round's number over all operations, its slot, and how often that was used before.
  int64_t absolute(int64_t round) const { return first + round; }
  int slot(int64_t round) const { return static_cast<int>(absolute(round) % kSlots); }
  int64_t use(int64_t round) const { return absolute(round) / kSlots; }

  ByteRange extent;
  int64_t window_bytes;
  int64_t grid_begin;
  int64_t first;
};

class NodeWindows {
 public:
  static constexpr int kWindows = NodeRounds::kSlots;

  /// \pre all of comm's ranks are on one node. Collective: yes; the outcome is the same everywhere.
  static Result<std::unique_ptr<NodeWindows>> create(Comm& comm, int64_t window_bytes);

  /// Returns how the ranks come together for an operation, unless it is short. Every operation
  /// begins by it.
  ShortCalls& short_calls() { return *short_calls_; }
  /// Tells whether `mine` is true on any rank. Takes one meeting. Collective: yes.
  bool is_true_anywhere(Comm& comm, bool mine);
  int64_t window_bytes() const { return window_bytes_; }

  /// Writes all ranks' streams of a lane, whose extent and granule were agreed on in a meeting. The
  /// outcome is as in write_two_phase_agreed(). Collective: yes.
  Moved write(Context& context, const Lane& lane, int64_t granule_bytes, StreamSource& source);
  /// Reads all ranks' streams of a lane as far as the file goes; its extent was agreed on in a
  /// meeting. The status is the same everywhere. Collective: yes.
  Moved read(Context& context, const Lane& lane, StreamSink& sink);

  /// Begins an operation in which ranks may move bytes before they meet. By the result a rank tells
  /// the others that it has failed to.
  FailureWord begin_early() { return {state_->failed_early, static_cast<uint32_t>(short_calls_->next_call())}; }

  /// The state of one window, in shared memory. Uses are counted from the first operation on.
  struct Slot {
    /// Ranks that have put their bytes in, over all uses.
    alignas(64) std::atomic<uint64_t> packed;
    std::atomic<int64_t> covered;   ///< granules that somebody has put in
    std::atomic<uint32_t> written;  ///< uses that have ended
    /// Ranks that have taken their bytes out, over all uses.
    alignas(64) std::atomic<uint64_t> taken;
    std::atomic<uint32_t> filled;  ///< the last use that was read, plus one
    int64_t file_end;              ///< where the file was found to end; kNoEnd; kFailed
  };
  /// Holds what the node shares, followed by the windows and their bits.
  struct State {
    Slot slots[kWindows];
    alignas(64) std::atomic<uint32_t> writing;  ///< 1 while a rank writes
    /// The round to be written next; for the rank that writes.
    int64_t next_write;
    int64_t written_rounds;                 ///< rounds of which all bytes are in the file
    std::atomic<int64_t> failed_operation;  ///< the last write that failed
    /// The last read that failed. Reads are told apart by the rounds before them, plus one.
    std::atomic<int64_t> failed_read;
    std::atomic<uint32_t> failed_early;          ///< the same for what ranks move before they meet
    std::atomic<int64_t> missed_call;            ///< a call of ShortCalls
    alignas(64) std::atomic<int64_t> next_read;  ///< the round that nobody has begun to read
    std::atomic<uint32_t> read_events;           ///< windows read, and windows taken by all
  };
  static constexpr int64_t kFailed = -1;

 private:
  friend class NodeWrite;
  friend class NodeRead;
  NodeWindows() = default;
  std::byte* buffer(int slot) const { return buffers_ + slot * window_bytes_; }
  std::atomic<uint64_t>* bits(int slot) const;

  std::unique_ptr<NodeMeeting> meeting_;
  std::optional<ShortCalls> short_calls_;
  std::shared_ptr<SharedBuffer> memory_;
  State* state_ = nullptr;
  std::byte* buffers_ = nullptr;
  std::byte* bits_ = nullptr;
  int64_t window_bytes_ = 0;
  int64_t rank_count_ = 0;
  int64_t write_operations_ = 0;
  int64_t write_rounds_ = 0;  ///< the rounds of earlier operations
  int64_t read_rounds_ = 0;
};

}  // namespace stria::access
