// Describes how a rank ends all ranks of its job, in code that knows of no MPI.
#pragma once

namespace stria {

/// Ends the job, as the deadline of a wait asks for it: by what note_job_end() was given, else this
/// process.
[[noreturn]] void end_job();
/// Makes end_job() call this, which doesn't return.
void note_job_end(void (*end)());

}  // namespace stria
