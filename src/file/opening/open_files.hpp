// The files that are open on this rank. They are left when the program ends: by MPI_Finalize, or by
// exit() without it. It then waits for commits in the background.
#pragma once

#include <memory>

#include "file/session/session.hpp"

namespace stria::file {

/// Has the session left at the end of the program, if it still lives then.
/// \pre session != nullptr
void leave_at_end(const std::shared_ptr<Session>& session);

/// Says, on rank 0 and on standard error, that a new file ends without a commit, unless an
/// exception is passing, a call has failed before, or STRIA_VERBOSE is 0.
void tell_of_loss(const OpenFile& file);

}  // namespace stria::file
