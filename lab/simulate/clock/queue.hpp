// A resource that serves one request after another: a link, a disk, a manager of locks.
#pragma once

#include <algorithm>

namespace stria::simulate {

class Queue {
 public:
  /// A request that comes at `arrival` and takes `seconds`; returns when it has been served.
  /// The caller brings arrivals by increasing time.
  double serve(double arrival, double seconds) {
    free_at_ = std::max(arrival, free_at_) + seconds;
    busy_s_ += seconds;
    return free_at_;
  }
  double free_at() const { return free_at_; }
  double busy_s() const { return busy_s_; }
  /// What was served so far no longer counts as busy.
  void count_anew() { busy_s_ = 0; }

 private:
  double free_at_ = 0;
  double busy_s_ = 0;
};

}  // namespace stria::simulate
