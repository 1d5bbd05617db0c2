// Small accesses of an open file that are gathered, and what they keep. All but keeps() and
// any_keeps() need the file's handle to be held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "storage/small/small_requests.hpp"
#include "stria/status.hpp"

namespace stria::mpiio {

class GatheredAccesses {
 public:
  GatheredAccesses() = default;
  GatheredAccesses(const GatheredAccesses&) = delete;
  GatheredAccesses& operator=(const GatheredAccesses&) = delete;
  ~GatheredAccesses() { drop(); }

  /// Such accesses may go through this from now on. `late` is told of writes that fail after the
  /// access has returned.
  void begin(storage::SmallRequests::Options options, std::function<void(const Status&)> late);
  bool has_begun() const { return requests_ != nullptr; }
  /// \pre has_begun()
  Status write(int64_t offset, std::span<const std::byte> data);
  Result<int64_t> read(int64_t offset, std::span<std::byte> data);
  /// Writes what is kept, and forgets what was read ahead.
  void settle();
  /// Settles, and gathers no more.
  void end();
  /// Ends without writing what is kept.
  void drop();
  /// Tells whether there is anything to settle. Any thread.
  bool keeps() const { return keeps_.load(std::memory_order_acquire); }
  /// Does the same for all files of the process. Any thread.
  static bool any_keeps();

 private:
  void note_keeping(bool keeps);
  /// Notes, after each use, whether something is kept, and what there is to tell.
  void note_access(const Status& late);

  std::unique_ptr<storage::SmallRequests> requests_;
  std::function<void(const Status&)> late_;
  std::atomic<bool> keeps_{false};
};

}  // namespace stria::mpiio
