// What the storage can do at best, for comparison with a run's rate: given by the user, measured by
// a short probe, or the best that the run itself reached.
#pragma once

#include "report/findings.hpp"
#include "stria/status.hpp"

namespace stria::tool {

/// A limit of `mb_per_second` times 10⁶ bytes per second.
StorageLimit given_limit(double mb_per_second);

/// Measures the limit: `writer_count` writers at once, 64 at most, each write to a nameless file
/// in `directory`, for at most a second or 512 MiB in all. The result is the rate of all
/// together. Each writer syncs at the end when `durable`. Leaves nothing behind. Errors are those
/// of the storage.
Result<StorageLimit> probe_limit(const std::string& directory, bool durable, int writer_count);

/// The best rate that the run's own requests reached; not known when it recorded no requests.
StorageLimit limit_of(const RunDigest& run);

}  // namespace stria::tool
