// What STRIA_VERBOSE asks the library to say, on standard error.
#pragma once

#include <string>

#include "comm/comm.hpp"

namespace stria::mpiio {

/// Whether this rank speaks for a file of `comm`: one rank does; of files that each rank opens by
/// itself, the first rank of the program. Never without STRIA_VERBOSE.
bool speaks_for(Comm& comm);
/// Says each sentence once.
void say(const std::string& sentence);
/// Says which library is at work.
void introduce();

}  // namespace stria::mpiio
