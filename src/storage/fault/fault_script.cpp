#include "storage/fault/fault_script.hpp"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <utility>

namespace stria::storage {

namespace {

constexpr size_t kOperations = static_cast<size_t>(Operation::kSysRemove) + 1;

void sleep_ms(int64_t duration_ms) {
  timespec left{duration_ms / 1000, duration_ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {
  }
}

bool touches(const FaultRule& rule, const OperationPlace& place) {
  const bool everything = rule.range == ByteRange{0, kUnlimited};
  return everything || std::any_of(place.ranges.begin(), place.ranges.end(),
                                   [&](const ByteRange& range) { return !intersect(rule.range, range).empty(); });
}

int64_t total_bytes(const OperationPlace& place) {
  int64_t total = 0;
  for (const ByteRange& range : place.ranges) {
    total += range.size();
  }
  return total;
}

}  // namespace

FaultScript::FaultScript(std::vector<FaultRule> rules, int rank) : counts_(kOperations, 0) {
  for (FaultRule& rule : rules) {
    if (rule.rank == -1 || rule.rank == rank) {
      rules_.push_back({std::move(rule)});
    }
  }
}

/// True when the rule acts on this operation. For a byte budget, `*allowed_bytes` becomes what
/// is left of it.
bool FaultScript::fires(Armed& armed, Operation operation, const OperationPlace& place, int64_t* allowed_bytes) {
  const FaultRule& rule = armed.rule;
  const bool speaks_of = std::find(rule.operations.begin(), rule.operations.end(), operation) != rule.operations.end() &&
                         place.path.find(rule.path_part) != std::string::npos && touches(rule, place);
  if (!speaks_of) {
    return false;
  }
  if (rule.after_bytes >= 0) {
    const int64_t left = std::max<int64_t>(0, rule.after_bytes - armed.bytes_seen);
    const int64_t bytes = total_bytes(place);
    armed.bytes_seen += std::min(bytes, left);
    *allowed_bytes = left;
    if (bytes <= left) {
      return false;
    }
  }
  ++armed.matches;
  return armed.matches >= rule.nth && armed.matches - rule.nth < rule.count;
}

FaultVerdict FaultScript::decide(Operation operation, const OperationPlace& place) {
  FaultVerdict verdict;
  int64_t delay_ms = 0;
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    ++counts_[static_cast<size_t>(operation)];
    for (Armed& armed : rules_) {
      int64_t allowed_bytes = 0;
      if (!fires(armed, operation, place, &allowed_bytes)) {
        continue;
      }
      switch (armed.rule.action) {
        case FaultRule::Action::kError:
          verdict.error_number = verdict.error_number == 0 ? armed.rule.error_number : verdict.error_number;
          verdict.allowed_bytes = std::min(verdict.allowed_bytes, allowed_bytes);
          break;
        case FaultRule::Action::kShort:
          verdict.allowed_bytes = std::min(verdict.allowed_bytes, armed.rule.short_bytes);
          break;
        case FaultRule::Action::kDelay:
          delay_ms += armed.rule.delay_ms;
          break;
        case FaultRule::Action::kKill:
          raise(SIGKILL);
          break;
        case FaultRule::Action::kCallback:
          callbacks.push_back(armed.rule.callback);
          break;
      }
    }
  }
  for (const auto& callback : callbacks) {
    callback();
  }
  if (delay_ms > 0) {
    sleep_ms(delay_ms);
  }
  return verdict;
}

int64_t FaultScript::operation_count() const {
  const std::lock_guard lock(mutex_);
  int64_t total = 0;
  for (size_t i = 0; i < static_cast<size_t>(Operation::kSysOpen); ++i) {
    total += counts_[i];
  }
  return total;
}

int64_t FaultScript::operation_count(Operation operation) const {
  const std::lock_guard lock(mutex_);
  return counts_[static_cast<size_t>(operation)];
}

}  // namespace stria::storage
