// Describes what the storage can do at best, for comparison with a run's rate: given by the user,
// or measured by a short probe. The run's own requests are never its limit, because a run that
// makes only slow requests would then look good.
#pragma once

#include "report/findings.hpp"
#include "stria/status.hpp"

namespace stria::tool {

/// Returns a limit of `mb_per_second` times 10⁶ bytes per second.
StorageLimit given_limit(double mb_per_second);

/// Measures the limit: `writer_count` writers at once, 64 at most, each write to a nameless file
/// in `directory`, for at most half a second or 256 MiB in all. The result is the rate of all
/// together. Each writer syncs at the end when `durable`. Leaves nothing behind. Errors are those
/// of the storage.
Result<StorageLimit> probe_limit(const std::string& directory, bool durable, int writer_count);

/// Returns the directory of the file of which the run moved most, if a probe there would measure
/// the storage that the run used: a rank ran on this machine, and this user may write to the
/// directory. Empty otherwise.
std::string directory_to_probe(const RunDigest& run);

}  // namespace stria::tool
