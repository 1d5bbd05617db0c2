// Files that are damaged or partly gone, looked at and put right by their parity. One process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "file/parity/parity_set.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Says what the parity of a file says.
struct ParityVerdict {
  int parities = 0;
  int64_t bytes = 0;  ///< the bytes of the file, its parts and its parity
  std::vector<ParityTrouble> troubles{};
  int64_t beyond_repair = 0;  ///< stripes
  std::string lost{};         ///< why, where there are some
};

/// Reads the file at `path`, its parts and its parity, and compares all with their sums. kNotFound
/// where there is no parity.
Result<ParityVerdict> check_parity(const std::shared_ptr<storage::Driver>& driver, const std::string& path);

struct RepairWishes {
  bool force = false;  ///< also where a program has written into the file since
  /// Where to put what is missing; empty: where it was, or in a store on servers that are up.
  std::string place{};
};
/// Puts everything back as it was written: missing files, wrong bytes, parity. Nothing is changed
/// unless all can be put back: kCorrupted says what is lost. kInvalidArgument where the file or a
/// part was changed after its parity was made, unless wished all the same; kNotFound where there
/// is no parity, or it is that of a file that never got its name, or the place isn't there to which
/// something is to be put. kInvalidArgument for a place of a file in a store, too. Returns what was
/// wrong.
Result<ParityVerdict> repair_file(const std::shared_ptr<storage::Driver>& driver, const std::string& path,
                                  const RepairWishes& wishes);

}  // namespace stria::file
