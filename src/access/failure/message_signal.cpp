#include "access/failure/message_signal.hpp"

#include <algorithm>

#include "access/request/message_tags.hpp"
#include "trace/record/span.hpp"
#include "trace/record/wait_timer.hpp"

namespace stria::access {

MessageSignal::MessageSignal(Comm& comm, MemoryReserve& memory, FailureWord on_node)
    : comm_(comm), memory_(memory), on_node_(on_node) {
  meet_neighbors(comm.rank(), comm.size(), [](int64_t place) { return static_cast<int>(place); });
}

MessageSignal::MessageSignal(Comm& comm, MemoryReserve& memory, std::span<const int> ranks) : comm_(comm), memory_(memory) {
  meet_neighbors(std::find(ranks.begin(), ranks.end(), comm.rank()) - ranks.begin(), static_cast<int64_t>(ranks.size()),
                 [ranks](int64_t place) { return ranks[static_cast<size_t>(place)]; });
}

template <typename RankAt>
void MessageSignal::meet_neighbors(int64_t mine, int64_t count, RankAt&& rank_at) {
  const auto meet = [&](Neighbor& neighbor, int64_t place) {
    if (place < 0 || place >= count) {
      return;
    }
    neighbor.rank = rank_at(place);
    neighbor.has_spoken = false;
    const auto word = std::as_writable_bytes(std::span(&neighbor.heard_word, 1));
    neighbor.hearing = memory_.surely([&] { return comm_.receive(word, neighbor.rank, kNewsTag); });
  };
  meet(parent_, mine > 0 ? (mine - 1) / 2 : -1);
  meet(children_[0], 2 * mine + 1);
  meet(children_[1], 2 * mine + 2);
}

void MessageSignal::listen(Neighbor& neighbor) {
  if (!neighbor.has_spoken && neighbor.hearing->test()) {
    neighbor.has_spoken = true;
    failed_ = failed_ || neighbor.heard_word != 0;
  }
}

void MessageSignal::speak(Neighbor& neighbor, int64_t word) {
  if (neighbor.rank < 0 || neighbor.telling != nullptr) {
    return;
  }
  neighbor.told_word = word;
  const auto bytes = std::as_bytes(std::span(&neighbor.told_word, 1));
  neighbor.telling = memory_.surely([&] { return comm_.send(bytes, neighbor.rank, kNewsTag); });
}

void MessageSignal::pass_on() {
  const bool all_below =
      std::all_of(children_.begin(), children_.end(), [](const Neighbor& child) { return child.has_spoken; });
  if (failed_ || (done_ && all_below)) {
    speak(parent_, failed_ ? 1 : 0);
  }
  if (failed_ || (done_ && all_below && parent_.has_spoken)) {
    for (Neighbor& child : children_) {
      speak(child, failed_ ? 1 : 0);
    }
  }
}

void MessageSignal::tell() {
  failed_ = true;
  on_node_.tell();
  pass_on();
}

bool MessageSignal::heard() {
  if (on_node_.heard()) {
    return true;
  }
  // Where ranks outnumber processors, MPI gives this rank's processor away when it
  // looks for messages.
  const trace::Span span(trace::kind(trace::BuiltIn::kMessageWait));
  const trace::WaitTimer timer;
  return look();
}

// Takes in what neighbours have said, and passes it on.
bool MessageSignal::look() {
  listen(parent_);
  for (Neighbor& child : children_) {
    listen(child);
  }
  pass_on();
  return failed_;
}

bool MessageSignal::is_over() const {
  const auto has_finished = [](const Neighbor& one) { return one.has_spoken && (one.rank < 0 || one.telling != nullptr); };
  return has_finished(parent_) && std::all_of(children_.begin(), children_.end(), has_finished);
}

void MessageSignal::wait_for_the_end() {
  if (is_over()) {
    return;
  }
  const trace::Span span(trace::kind(trace::BuiltIn::kMessageWait));
  const trace::WaitTimer timer;
  for (int attempt = 0; !is_over(); ++attempt) {
    comm_.pause(attempt);
    look();
  }
}

Status MessageSignal::end(Status mine) {
  if (!mine.ok()) {
    failed_ = true;
    on_node_.tell();
  }
  done_ = true;
  look();
  wait_for_the_end();
  for (Neighbor* neighbor : {&parent_, &children_[0], &children_[1]}) {
    if (neighbor->telling != nullptr) {
      comm_.wait(*neighbor->telling);
    }
  }
  if (!mine.ok() || !failed_) {
    return mine;
  }
  return memory_.surely([] { return Status(ErrorCode::kAborted, "another rank has failed"); });
}

}  // namespace stria::access
