// Describes what a file is opened with on this rank.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access/request/hints.hpp"
#include "comm/comm.hpp"
#include "comm/waiting.hpp"
#include "container/formats/formats.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Says what a session runs on. A test can bring its own.
struct Environment {
  std::shared_ptr<Comm> comm;
  std::shared_ptr<storage::Driver> driver;
  /// Makes the driver for handles past the page cache when one is first wanted; null:
  /// `driver` it is.
  std::function<std::shared_ptr<storage::Driver>()> make_direct_driver;
  access::ResolvedHints hints;
  std::vector<std::string> hint_warnings;
  const container::FileFormat* format = &container::default_format();  ///< the format of new files
  /// The names stand by node, where places for the parts of a new file name nodes
  /// (nodes/node_places.hpp); else there are none.
  std::vector<std::string> node_names;
  /// Some parts are reached through ranks of other nodes: a rank that moves bytes, or looks at a
  /// part, does so while all others are in the call too.
  bool is_served = false;
  bool absolute_paths = false;  ///< the program may leave its directory while the file is open
  /// Why this rank can't take part, there being no driver; every rank hears of it at the
  /// first agreement.
  Status problem;
  /// The problem, on rank 0, is the failure of an earlier commit in the background, of which the
  /// program has to hear before this call is begun.
  bool puts_off = false;
};

/// A file that a session writes, as functions take it.
struct StoredFile {
  const Environment& environment;
  const std::string& path;  ///< the path as the storage knows it
};

/// Returns the limits of the hints.
inline WaitLimits wait_limits_of(const access::ResolvedHints& hints) {
  return {static_cast<double>(hints.wait_warning_s), static_cast<double>(hints.wait_deadline_s)};
}

}  // namespace stria::file
