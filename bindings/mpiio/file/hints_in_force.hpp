// The hints of an open file: as the program gave them, as files of hints have them, and what both
// come to.
#pragma once

#include "access/plan/hint_files.hpp"
#include "access/request/hints.hpp"
#include "comm/waiting.hpp"
#include "mpiio/mpi/outcome.hpp"
#include "stria/hints.hpp"

namespace stria::mpiio {

class File;

class HintsInForce {
 public:
  const access::ResolvedHints& resolved() const { return resolved_; }
  /// Returns the limits of the hints.
  WaitLimits wait_limits() const {
    return {static_cast<double>(resolved_.wait_warning_s), static_cast<double>(resolved_.wait_deadline_s)};
  }

  /// Reads the hints that files have for this one. Fails, perhaps on this rank alone, when memory
  /// runs out. Collective: yes.
  Outcome read_files(File& file);
  /// Adopts hints. Earlier ones stay where the new ones don't name them.
  void apply(File& file, const Hints& given);

 private:
  access::FileHints of_files_;
  Hints given_;  ///< the hints as the program gave them
  access::ResolvedHints resolved_;
};

}  // namespace stria::mpiio
