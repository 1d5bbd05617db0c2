// What the storage can do at best, to put a run's rate beside: given by the user, measured by a short probe, or the best that
// the run itself reached.
#pragma once

#include "report/findings.hpp"
#include "stria/status.hpp"

namespace stria::tool {

/// A limit of `mb_per_second` 10⁶ bytes a second.
StorageLimit given_limit(double mb_per_second);

/// Writes to nameless files in `directory` for up to a second or 512 MiB, one for each of `writer_count` writers at once (64 at
/// most), and takes the rate of all together; each syncs at the end when `durable`. Leaves nothing behind. Errors are the
/// storage's.
Result<StorageLimit> probe_limit(const std::string& directory, bool durable, int writer_count);

/// The best that the run's own requests reached; none when it recorded no requests.
StorageLimit limit_of(const RunDigest& run);

}  // namespace stria::tool
