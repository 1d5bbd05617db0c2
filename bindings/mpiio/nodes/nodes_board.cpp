#include "mpiio/nodes/nodes_board.hpp"

#include <mpi.h>

#include <algorithm>
#include <span>

namespace stria::mpiio {

NodesBoard::NodesBoard(const NodesPlace& place, int rank, int node)
    : place_(place), rank_(rank), node_(node), client_(place, rank) {}

void NodesBoard::publish(int64_t number, int error_class) {
  if (node_ < 0) {
    return;
  }
  if (error_class != MPI_SUCCESS) {
    to_report_.emplace(number, error_class);
  }
  if (number >= finished_) {
    ahead_.insert(number);
  }
  while (!ahead_.empty() && *ahead_.begin() == finished_) {
    ahead_.erase(ahead_.begin());
    ++finished_;
  }
  exchange(-1);
}

bool NodesBoard::complete(int64_t number, int& error_class) {
  if (number >= known_) {
    exchange(number);
  }
  if (number >= known_) {
    return false;
  }
  error_class = MPI_SUCCESS;
  if (const auto failure = failures_.find(number); failure != failures_.end()) {
    error_class = failure->second;
    failures_.erase(failure);
  }
  return true;
}

NodesReport NodesBoard::report() const {
  NodesReport report;
  report.known = known_;
  report.node = node_;
  report.finished = list_failures(to_report_, acknowledged_, finished_, report.failures, report.failure_count);
  return report;
}

// Rank 0 itself has what other ranks ask for. `wanted`: the operation whose outcome is
// wanted, or -1.
void NodesBoard::exchange(int64_t wanted) {
  if (rank_ == 0) {
    for (bool is_news = true; is_news;) {
      const int64_t before = known_ + acknowledged_;
      take(NodesServer::instance().exchange(place_.token, report()));
      is_news = known_ + acknowledged_ > before;
    }
    return;
  }
  if (const auto message = client_.poll()) {
    take(content_of<NodesAnswer>(*message));
  }
  const NodesReport mine = report();
  if (mine.finished > reported_ || (wanted >= known_ && !client_.is_asking())) {
    NodesMessage message;
    set_content(message, mine);
    client_.start(NodesMessage::Kind::kOutcomes, message.values);
    reported_ = mine.finished;
  }
}

void NodesBoard::take(const NodesAnswer& answer) {
  const auto count = std::clamp<int64_t>(answer.failure_count, 0, kNodesFailures);
  for (const NodesFailure& failure : std::span(answer.failures).first(static_cast<size_t>(count))) {
    failures_.emplace(failure.operation, static_cast<int>(failure.error_class));
  }
  known_ = std::max(known_, answer.known);
  acknowledged_ = std::max(acknowledged_, answer.finished);
  to_report_.erase(to_report_.begin(), to_report_.lower_bound(acknowledged_));
}

}  // namespace stria::mpiio
