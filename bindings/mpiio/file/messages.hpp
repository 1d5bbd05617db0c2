// Describes what STRIA_VERBOSE asks the library to say, on standard error.
#pragma once

#include <string>

#include "comm/comm.hpp"

namespace stria::mpiio {

/// Tells whether this rank prints for a file of `comm`. One rank does; for files that each rank
/// opens by itself, the first rank of the program. Never without STRIA_VERBOSE.
bool speaks_for(Comm& comm);
/// Prints each sentence once.
void say(const std::string& sentence);
/// Prints which library is active.
void introduce();

}  // namespace stria::mpiio
