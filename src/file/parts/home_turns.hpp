// Decides which files with places for their parts (part_places.hpp) leave these at home: every n-th
// by the hint stria_home_every, so that it lies on the shared file system as a whole.
//
// Problem: fast disks are quick for each checkpoint, and some checkpoints are to outlive them.
// Method: this process counts the files that got their names since the last one that stayed at
// home. Names that differ in digits only count together, as those of a program's checkpoints do.
// Cost: the memory of one name.
#pragma once

#include <cstdint>
#include <string>

namespace stria::file {

/// Tells whether it is the turn of the next file of this path to stay at home. `every` 0: never.
bool is_turn_of_home(const std::string& path, int64_t every);
/// Notes a file that has its name.
void note_turn(const std::string& path, bool stayed_home);

}  // namespace stria::file
