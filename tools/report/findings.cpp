#include "report/findings.hpp"

#include <algorithm>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> list;
    for (std::span<const Rule> group : {time_rules(), request_rules(), balance_rules(), usage_rules()}) {
      list.insert(list.end(), group.begin(), group.end());
    }
    return list;
  }();
  return rules;
}

}  // namespace

std::vector<Finding> find(const RunDigest& run, const StorageLimit& limit) {
  std::vector<Finding> findings;
  for (const Rule& rule : all_rules()) {
    if (MaybeFinding finding = rule.look(run, limit)) {
      finding->rule = rule.name;
      findings.push_back(*std::move(finding));
    }
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return a.weight > b.weight; });
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
