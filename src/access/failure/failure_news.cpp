#include "access/failure/failure_news.hpp"

#include <algorithm>

#include "trace/span.hpp"
#include "trace/wait_timer.hpp"

namespace stria::access {

namespace {

constexpr int kNewsTag = 32015;

Status another_failed() {
  return Status(ErrorCode::kAborted, "another rank has failed");
}

}  // namespace

FailureNews::FailureNews(Comm& comm, MemoryReserve& memory) : comm_(comm), memory_(memory) {
  meet_neighbors(comm.rank(), comm.size(), [](int64_t place) { return static_cast<int>(place); });
}

FailureNews::FailureNews(Comm& comm, MemoryReserve& memory, std::span<const int> ranks) : comm_(comm), memory_(memory) {
  meet_neighbors(std::find(ranks.begin(), ranks.end(), comm.rank()) - ranks.begin(), static_cast<int64_t>(ranks.size()),
                 [ranks](int64_t place) { return ranks[static_cast<size_t>(place)]; });
}

template <typename RankAt>
void FailureNews::meet_neighbors(int64_t mine, int64_t count, RankAt&& rank_at) {
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

void FailureNews::listen(Neighbor& neighbor) {
  if (!neighbor.has_spoken && neighbor.hearing->test()) {
    neighbor.has_spoken = true;
    failed_ = failed_ || neighbor.heard_word != 0;
  }
}

void FailureNews::speak(Neighbor& neighbor, int64_t word) {
  if (neighbor.rank < 0 || neighbor.telling != nullptr) {
    return;
  }
  neighbor.told_word = word;
  const auto bytes = std::as_bytes(std::span(&neighbor.told_word, 1));
  neighbor.telling = memory_.surely([&] { return comm_.send(bytes, neighbor.rank, kNewsTag); });
}

void FailureNews::pass_on() {
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

void FailureNews::tell() {
  failed_ = true;
  pass_on();
}

bool FailureNews::heard() {
  listen(parent_);
  for (Neighbor& child : children_) {
    listen(child);
  }
  pass_on();
  return failed_;
}

bool FailureNews::is_over() const {
  const auto settled = [](const Neighbor& one) { return one.has_spoken && (one.rank < 0 || one.telling != nullptr); };
  return settled(parent_) && std::all_of(children_.begin(), children_.end(), settled);
}

void FailureNews::wait_for_the_end() {
  if (is_over()) {
    return;
  }
  const trace::Span span(trace::kind(trace::BuiltIn::kMessageWait));
  const trace::WaitTimer timer;
  for (int attempt = 0; !is_over(); ++attempt) {
    comm_.pause(attempt);
    heard();
  }
}

Status FailureNews::end(const Status& mine) {
  failed_ = failed_ || !mine.ok();
  done_ = true;
  heard();
  wait_for_the_end();
  for (Neighbor* neighbor : {&parent_, &children_[0], &children_[1]}) {
    if (neighbor->telling != nullptr) {
      comm_.wait(*neighbor->telling);
    }
  }
  if (!mine.ok() || !failed_) {
    return mine;
  }
  return memory_.surely([] { return another_failed(); });
}

Status failure_elsewhere(const Context& context) {
  const bool in_turn = context.turn != nullptr && context.turn->was_given_up();
  if (!in_turn && context.failed_elsewhere) {
    // Where ranks outnumber processors MPI gives this rank's away when it is asked for messages.
    const trace::Span span(trace::kind(trace::BuiltIn::kMessageWait));
    const trace::WaitTimer timer;
    return context.failed_elsewhere() ? another_failed() : Status();
  }
  return in_turn ? another_failed() : Status();
}

}  // namespace stria::access
