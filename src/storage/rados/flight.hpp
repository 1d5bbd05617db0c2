// Several operations under way at once.
//
// Problem: an operation of Ceph takes milliseconds, most of them waiting.
// Method: up to 16 operations are on their way; the next one starts when one of them ends.
// Cost: nothing is left behind: each operation ends by itself after rados_patience().
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "storage/rados/pool.hpp"

namespace stria::storage {

/// Carries out the operations of one request. Belongs to one thread.
class Flight {
 public:
  /// Takes what the operation returned (0 or a negative errno value, as librados has it) and
  /// returns what counts.
  using Landing = std::function<int(int result)>;
  /// Hands the operation to librados; returns what librados returned.
  using Start = std::function<int(rados_completion_t completion)>;

  explicit Flight(const Pool& pool) : pool_(pool) {}
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;
  /// Waits.
  ~Flight();

  /// Starts an operation on `object` as soon as there is room. After a failure it starts no more.
  void add(std::string object, const Start& start, Landing landing);
  /// Waits for all of them. Returns the first error, which names its object.
  Status wait();

 private:
  static constexpr size_t kUnderWay = 16;
  enum class State { kFree, kFlying, kLanded };
  struct Slot {
    Flight* flight = nullptr;
    State state = State::kFree;
    int result = 0;
    std::string object;
    Landing landing;
  };
  static void landed(rados_completion_t completion, void* slot);
  /// Takes in what has landed; waits for one where none is free, or for all.
  Slot* free_slot();
  bool take_in();
  void finish(Slot& slot);

  const Pool& pool_;
  std::mutex mutex_;
  std::condition_variable landing_;
  std::array<Slot, kUnderWay> slots_;
  Status outcome_;
};

}  // namespace stria::storage
