// Puts an aggregator's filled windows into the file.
//
// Problem: a window may have holes that no rank fills, and that must stay as they are in the file.
// Method: a window without holes is one request. One with few, long stretches is a list of them.
// One with many short ones is completed from the file under a lock and written as a whole (data
// sieving). The cost of a request decides which is cheaper.
// Cost: one bit per byte of what several contributors cover together, a list of at most
// kMostSegments, and kOldBytes of the file, however many pieces there are.
#pragma once

#include <span>
#include <vector>

#include "access/context/context.hpp"
#include "access/together/domains/share.hpp"
#include "access/together/window/coverage.hpp"

namespace stria::access {

class WindowWriter {
 public:
  /// `direct_file`: the same file past the page cache, or null.
  explicit WindowWriter(Context& context, storage::File* direct_file = nullptr)
      : context_(context), direct_file_(direct_file) {}

  /// Begins to write the windows of a round, filled by `contributors` in `buffer`, which must stay
  /// until finish().
  void start(std::span<const Window> windows, std::span<const Share> contributors, std::byte* buffer);
  /// Does the same, and returns when all is written; finish() has the outcome. Spares a thread
  /// where nothing else is to be done meanwhile.
  void write(std::span<const Window> windows, std::span<const Share> contributors, std::byte* buffer);
  /// Waits for what was started, and returns its outcome.
  Status finish();
  /// Writes the covered bytes of a window at once; `base` is the place of its first byte.
  Status write_covered(ByteRange window, const Coverage& coverage, std::byte* base);

 private:
  /// Segments in one request; longer lists are written in parts.
  static constexpr size_t kMostSegments = 16 << 10;
  /// Bytes of the file that a sieved window reads at a time.
  static constexpr int64_t kOldBytes = 256 << 10;
  static constexpr int64_t kMostGapBytes = 64 << 10;  ///< within what is handled together
  bool put_all(std::span<const Window> windows, std::span<const Share> contributors, std::byte* buffer);
  void start_lists();
  void write_lists();
  Result<std::unique_ptr<storage::RangeLock>> stay_out_of_windows(ByteRange range);
  Status write_now(storage::File& file, std::vector<storage::WriteSegment>& segments);
  Status put(const Window& window, size_t number, std::span<const Share> contributors, std::byte* buffer);
  Status put_covered(ByteRange window, const Coverage& coverage, std::byte* base);
  bool sieving_is_cheaper(const Coverage::Stretches& stretches) const;
  Status sieve(ByteRange window, const Coverage& coverage, ByteRange hull, std::byte* base);
  Status add_segment(ByteRange range, const std::byte* data);

  Context& context_;
  storage::File* direct_file_;
  std::vector<storage::WriteSegment> cached_, direct_;
  std::unique_ptr<storage::PendingWrite> cached_pending_, direct_pending_;
  Status status_;
};

}  // namespace stria::access
