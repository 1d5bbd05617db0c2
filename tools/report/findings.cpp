#include "report/findings.hpp"

#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

constexpr double kIoMatters = 0.05;  // share of the run's time: docs/trace_report.md, "The verdict"
constexpr double kAtLimit = 0.9;     // a share of a limit that was given or measured
// A share of the run's time: findings that concern less are remarks.
constexpr double kLeastGain = 0.005;

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> list;
    for (std::span<const Rule> group : {limit_rules(), time_rules(), together_rules(), request_rules(), excess_rules(),
                                        balance_rules(), usage_rules(), background_rules()}) {
      list.insert(list.end(), group.begin(), group.end());
    }
    return list;
  }();
  return rules;
}

}  // namespace

Verdict verdict_of(const RunDigest& run, const StorageLimit& limit) {
  if (run.io_share() < kIoMatters) {
    return Verdict::kLittle;
  }
  if (limit.bytes_per_second <= 0) {
    return Verdict::kNotCompared;
  }
  const double share = share_of(run.useful_rate(), limit.bytes_per_second);
  return share >= kAtLimit ? Verdict::kAtLimit : Verdict::kBelowLimit;
}

std::vector<Finding> find(const RunDigest& run, const StorageLimit& limit) {
  const Verdict verdict = verdict_of(run, limit);
  const bool nothing_to_do = verdict == Verdict::kLittle || verdict == Verdict::kAtLimit;
  std::vector<Finding> findings;
  for (const Rule& rule : all_rules()) {
    if (MaybeFinding finding = rule.look(run, limit)) {
      finding->rule = rule.name;
      finding->is_remark = nothing_to_do || finding->weight * run.io_share() < kLeastGain;
      findings.push_back(*std::move(finding));
    }
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.is_remark != b.is_remark ? b.is_remark : a.weight > b.weight;
  });
  return findings;
}

std::span<const char* const> rule_names() {
  static const std::vector<const char*> names = [] {
    std::vector<const char*> list;
    for (const Rule& rule : all_rules()) {
      list.push_back(rule.name);
    }
    return list;
  }();
  return names;
}

}  // namespace stria::tool
