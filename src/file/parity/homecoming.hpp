// Parts and parity that come from the places where they were written to their names beside the
// file: the second level of a checkpoint, which goes to fast disks first.
//
// Method: only what belongs to a whole file comes: parts that the file names, and parity with its
// mark. Each is copied beside its link, and replaces that by one change of a name, so that the file
// is whole at any time. Parity is marked again after its parts, which would seem younger.
// Cost: each byte is read and written once.
#pragma once

#include <string>
#include <vector>

#include "storage/driver.hpp"

namespace stria::file {

/// Brings home all that lies in `place`. Returns the names beside the files; `failure` gets the
/// first failure. One process.
std::vector<std::string> bring_parts_home(storage::Driver& driver, const std::string& place, Status& failure);

}  // namespace stria::file
