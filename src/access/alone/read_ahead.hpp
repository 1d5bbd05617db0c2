// Tells the storage what the next batches will read.
//
// Problem: a batch reads a piece of each of many variables, far apart in the file. The system takes
// that for random reads, and fetches each piece when it is asked for, while the rank waits.
// Method: each stream asks for a stretch of the file beyond the batch; all stretches together have
// a bound. Streams of short pieces ask for the stretch that holds them, unless most of it is gaps.
// Cost: a few calls for each stretch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "access/request/batch.hpp"
#include "access/request/request.hpp"
#include "storage/driver.hpp"

namespace stria::access {

class ReadAhead {
 public:
  /// What is asked for and not read yet, of all streams of a batch together.
  static constexpr int64_t kAheadBytes = 32 << 20;
  static constexpr int64_t kLeastStretchBytes = 256 << 10;

  explicit ReadAhead(storage::File& file) : file_(file) {}

  /// Asks for what comes after `batch`. Must be called before each batch is read.
  void before(std::span<const BatchPart> batch);

 private:
  struct Asked {
    const Stream* stream = nullptr;
    int64_t end = 0;
  };

  Asked& asked_of(const BatchPart& part, size_t hint);
  void ask(const Stream& stream, int64_t begin, int64_t end);

  storage::File& file_;
  std::vector<Asked> asked_;  // in the order of the batches' parts
};

}  // namespace stria::access
