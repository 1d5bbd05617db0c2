// Puts an aggregator's filled windows into the file.
//
// Problem: a window may have holes that nobody fills and that must stay what they are in the file. Method: a window without
// holes is one request; one with few, long stretches is a list of them; one with many short ones is completed from the file
// under a lock and written as a whole (data sieving). Which is cheaper is told by what a request costs. Cost: a bit a byte of a
// window with several contributors; memory for one more window where the file is read.
#pragma once

#include <span>
#include <vector>

#include "access/aggregation.hpp"
#include "access/coverage.hpp"

namespace stria::access {

class WindowWriter {
 public:
  explicit WindowWriter(Context& context) : context_(context) {}

  /// Begins to write the windows of a round, filled by `contributors` in `buffer`, which must stay until finish().
  void start(std::span<const Window> windows, std::span<const Aggregation::Share> contributors, std::byte* buffer);
  /// Waits for what was started; its outcome.
  Status finish();

 private:
  /// What is known of the covered stretches of a window.
  struct Stretches {
    int64_t count = 0;
    int64_t bytes = 0;
    ByteRange hull;
  };
  Status put(const Window& window, size_t number, std::span<const Aggregation::Share> contributors, std::byte* buffer);
  bool sieving_is_cheaper(const Stretches& stretches) const;
  Status sieve(const Window& window, const Coverage& coverage, ByteRange hull, std::byte* base);
  void add_segment(ByteRange range, const std::byte* data);

  Context& context_;
  std::vector<storage::WriteSegment> cached_, direct_;
  std::unique_ptr<storage::PendingWrite> cached_pending_, direct_pending_;
  Status status_;
};

}  // namespace stria::access
