#include "store/name_server.hpp"

#include <algorithm>

namespace stria::simulate {

void NameServer::serve(double seconds, Work work) {
  if (crowd_ <= 0) {
    clock_.sleep_until(queue_.serve(clock_.now(), seconds));
    return;
  }
  Request mine{.seconds = seconds, .rank = clock_.current(), .work = work};
  waiting_.push_back(&mine);
  creations_ += work == Work::kCreate ? 1 : 0;
  if (waiting_.size() == 1) {
    begin_first();
  }
  while (!mine.done && !clock_.is_cancelled()) {
    clock_.block("waits for the metadata server");
  }
}

void NameServer::begin_first() {
  const Request& first = *waiting_.front();
  const double longer = first.work == Work::kCreate ? std::max(1.0, creations_ / crowd_) : 1.0;
  crowded_s_ += first.seconds * longer;
  clock_.at(clock_.now() + first.seconds * longer, [this] { end_first(); });
}

void NameServer::end_first() {
  Request& first = *waiting_.front();
  waiting_.pop_front();
  creations_ -= first.work == Work::kCreate ? 1 : 0;
  first.done = true;
  clock_.wake(first.rank, clock_.now());
  if (!waiting_.empty()) {
    begin_first();
  }
}

void NameServer::count_anew() {
  queue_.count_anew();
  crowded_s_ = 0;
}

}  // namespace stria::simulate
