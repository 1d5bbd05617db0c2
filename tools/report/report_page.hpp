// The report of a run as one HTML page, for people who don't read traces.
#pragma once

#include <string>
#include <vector>

#include "report/findings.hpp"

namespace stria::tool {

/// Makes the page: verdict, findings and remarks, where the time went, ranks, sizes of requests,
/// and files with the hints in effect. The page needs no other files and no script.
std::string report_page(const RunDigest& run, const StorageLimit& limit, const std::vector<Finding>& findings);

/// Returns the same for programs.
std::string report_json(const RunDigest& run, const StorageLimit& limit, const std::vector<Finding>& findings);

/// Returns the report's first sentences: the verdict.
std::string headline(const RunDigest& run, const StorageLimit& limit);

/// Returns the limit's rate, and where it comes from.
std::string limit_text(const StorageLimit& limit);

}  // namespace stria::tool
