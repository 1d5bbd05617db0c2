// The findings of a report for a terminal: how many of which severity, then each with its evidence
// and what to change, in lines of 80 columns.
#pragma once

#include <span>
#include <string>

#include "report/findings.hpp"

namespace stria::tool {

/// Follows from the share of the run's time that a finding concerns.
enum class Severity {
  kHigh,    ///< a fifth of the run or more
  kMedium,  ///< a twentieth or more
  kLow,
  kRemark,  ///< next to nothing
};
Severity severity_of(const Finding& finding, const RunDigest& run);

/// Returns "2 findings: 1 high, 1 low; 3 remarks"; "" without any.
std::string counts_text(std::span<const Finding> findings, const RunDigest& run);

/// Returns the counts, and the findings without the remarks. `coloured`: with ANSI's codes for
/// colours.
std::string terminal_text(std::span<const Finding> findings, const RunDigest& run, bool coloured);

}  // namespace stria::tool
