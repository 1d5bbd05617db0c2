// Hints of a file: from the program's MPI_Info and from the environment, and back to an MPI_Info.
//
// Later ones win: the directory's `.stria-hints`, the file that ROMIO_HINTS names, the file that
// STRIA_HINTS_FILE names, the program's own, then STRIA_HINTS ("name=value;name=value"), which
// tunes a program that can't be changed.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "access/plan/hint_files.hpp"
#include "stria/hints.hpp"

namespace stria::mpiio {

Hints hints_of(MPI_Info info);
/// Returns the hints of the environment around `own`. `problems` gets those of the files.
Hints with_environment(const Hints& own, const access::FileHints& from_files, std::vector<std::string>& problems);
/// Returns an info object for the program to free.
MPI_Info info_of(const Hints& hints);

/// True when STRIA_VERBOSE asks for messages.
bool is_verbose();
/// True when it asks for none at all.
bool is_silent();

/// Parses the text of hints; tests call it too.
Hints parse_hint_list(const std::string& text);

}  // namespace stria::mpiio
