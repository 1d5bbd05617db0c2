#include "mpiio/nodes/nodes_ledger.hpp"

#include <algorithm>
#include <span>

namespace stria::mpiio {

NodesLedger::NodesLedger(std::atomic<int64_t>* pointers, int pointer_count, int node_count)
    : pointers_(pointers), pointer_count_(pointer_count), finished_(static_cast<size_t>(node_count), 0), behind_(node_count) {}

std::optional<int64_t> NodesLedger::add(int rank, int64_t sequence, int64_t pointer, int64_t bytes) {
  if (pointer < 0 || pointer >= pointer_count_) {
    return std::nullopt;
  }
  Last& last = last_[rank];
  if (sequence > last.sequence) {
    last = {sequence, pointers_[pointer].fetch_add(bytes)};
  }
  return sequence == last.sequence ? std::optional(last.before) : std::nullopt;
}

bool NodesLedger::take(const NodesReport& report) {
  if (report.node < 0 || report.node >= static_cast<int64_t>(finished_.size())) {
    return false;
  }
  int64_t& finished = finished_[static_cast<size_t>(report.node)];
  if (report.finished <= finished) {
    return false;
  }
  const auto count = std::clamp<int64_t>(report.failure_count, 0, kNodesFailures);
  for (const NodesFailure& failure : std::span(report.failures).first(static_cast<size_t>(count))) {
    if (failure.operation >= finished) {
      failures_.emplace(failure.operation, failure.error_class);
    }
  }
  behind_ -= finished == everywhere_ ? 1 : 0;
  finished = report.finished;
  if (behind_ > 0) {
    return false;
  }
  everywhere_ = *std::min_element(finished_.begin(), finished_.end());
  behind_ = static_cast<int>(std::count(finished_.begin(), finished_.end(), everywhere_));
  return true;
}

NodesAnswer NodesLedger::answer(const NodesReport& report) const {
  NodesAnswer answer;
  if (report.node >= 0 && report.node < static_cast<int64_t>(finished_.size())) {
    answer.finished = finished_[static_cast<size_t>(report.node)];
  }
  answer.known = list_failures(failures_, report.known, everywhere_, answer.failures, answer.failure_count);
  return answer;
}

int64_t list_failures(const std::map<int64_t, int64_t>& failures, int64_t first, int64_t end,
                      std::array<NodesFailure, kNodesFailures>& list, int64_t& count) {
  count = 0;
  for (auto failure = failures.lower_bound(first); failure != failures.end() && failure->first < end; ++failure) {
    if (count == kNodesFailures) {
      return failure->first;
    }
    list[static_cast<size_t>(count++)] = {failure->first, failure->second};
  }
  return end;
}

}  // namespace stria::mpiio
