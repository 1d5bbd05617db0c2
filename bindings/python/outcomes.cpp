#include "outcomes.hpp"

#include <memory>

#include "calls.hpp"

namespace nb = nanobind;

namespace stria::python {

Verdict verify(stria_file* file, const std::vector<std::string>& except) {
  stria_verdict* verdict = nullptr;
  const auto names = pointers(except);
  released([&] { return stria_verify_except(file, static_cast<int64_t>(names.size()), names.data(), &verdict); });
  const std::unique_ptr<stria_verdict, FreedBy<stria_verdict_free>> owned(verdict);
  std::vector<std::tuple<std::string, int64_t, int64_t>> damage;
  for (int64_t i = 0; i < stria_verdict_size(verdict); ++i) {
    const stria_damage* one = stria_verdict_at(verdict, i);
    damage.emplace_back(one->dataset, one->first_row, one->last_row);
  }
  return {damage, strings_of(stria_verdict_remarks(verdict))};
}

nb::dict report(stria_file* file) {
  stria_report of{};
  check(stria_get_report(file, &of));
  nb::dict result;
  result["useful_bytes"] = of.useful_bytes;
  result["file_bytes"] = of.file_bytes;
  result["seconds"] = of.seconds;
  result["method"] = of.method;
  result["reason"] = of.reason;
  int64_t cleared_bytes = 0;
  check(stria_get_cleared(file, &cleared_bytes));
  result["cleared_bytes"] = cleared_bytes;
  int64_t copied_bytes = 0;
  check(stria_get_copied(file, &copied_bytes));
  result["copied_bytes"] = copied_bytes;
  for (const char* phase : {"open", "metadata", "pack", "unpack", "exchange", "write", "read", "sync", "commit"}) {
    double seconds = 0;
    check(stria_get_phase(file, phase, &seconds));
    result[phase] = seconds;
  }
  return result;
}

}  // namespace stria::python
