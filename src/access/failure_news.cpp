#include "access/failure_news.hpp"

#include <algorithm>

namespace stria::access {

namespace {

constexpr int kNewsTag = 32015;

}  // namespace

FailureNews::FailureNews(Aggregation& aggregation, Comm& comm, std::span<const int> aggregators)
    : aggregation_(aggregation), comm_(comm) {
  const auto mine = std::find(aggregators.begin(), aggregators.end(), comm.rank()) - aggregators.begin();
  const int64_t places[] = {mine > 0 ? (mine - 1) / 2 : -1, 2 * mine + 1, 2 * mine + 2};
  for (size_t i = 0; i < neighbors_.size(); ++i) {
    if (places[i] < 0 || places[i] >= static_cast<int64_t>(aggregators.size())) {
      continue;
    }
    Neighbor& neighbor = neighbors_[i];
    neighbor.rank = aggregators[static_cast<size_t>(places[i])];
    const auto word = std::as_writable_bytes(std::span(&neighbor.word, 1));
    neighbor.request = aggregation_.memory().surely([&] { return comm_.receive(word, neighbor.rank, kNewsTag); });
  }
}

void FailureNews::send(int64_t word) {
  for (const Neighbor& neighbor : neighbors_) {
    if (neighbor.rank >= 0 && !told_) {
      aggregation_.post_lasting_token(neighbor.rank, kNewsTag, word);
    }
  }
  told_ = true;
}

void FailureNews::tell() {
  send(1);
}

bool FailureNews::heard() {
  bool failed = false;
  for (Neighbor& neighbor : neighbors_) {
    neighbor.has_spoken = neighbor.has_spoken || (neighbor.rank >= 0 && neighbor.request->test());
    failed = failed || (neighbor.has_spoken && neighbor.word != 0);
  }
  if (failed) {
    tell();
  }
  return failed;
}

void FailureNews::finish() {
  send(0);
  for (Neighbor& neighbor : neighbors_) {
    if (neighbor.rank >= 0 && !neighbor.has_spoken) {
      comm_.wait(*neighbor.request);
    }
  }
  aggregation_.finish();
}

}  // namespace stria::access
