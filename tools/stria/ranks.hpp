// The processes that run a subcommand together: the ranks of MPI, or this one alone.
#pragma once

#include <optional>
#include <string>

#include "stria/file.hpp"
#include "stria/status.hpp"

namespace stria::tool {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  /// Returns the failure of the lowest rank that has one, on all ranks. Collective: yes.
  virtual Status agree(const Status& mine) = 0;
  /// Opens a file for all ranks. Collective: yes.
  virtual File open(const std::string& path) = 0;
};

/// Returns this process.
Ranks& alone();

/// Returns the number that a launcher of MPI has given this process, or nothing where none has
/// started it.
std::optional<std::string> launched_rank();

}  // namespace stria::tool
