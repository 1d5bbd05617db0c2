// A whole file against its sums: every rank looks at its share of the data, rank 0 at names and
// metadata, and all learn what all have found.
#pragma once

#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "container/container.hpp"
#include "file/verify/findings.hpp"
#include "file/verify/summed_file.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Returns what this rank finds in its share, without the datasets named in `except`. `chunk_sums`
/// says how loading the sums of chunks went; `reader` is null on other ranks than 0. Local.
Result<Findings> check_share(const SummedFile& from, const Comm& comm, const container::Reader* reader,
                             const std::vector<std::string>& except, const Status& chunk_sums);
/// Returns what all ranks have found, on every rank. Collective: yes.
Result<Findings> share_findings(const SummedFile& from, Comm& comm, const Findings& mine);

}  // namespace stria::file
