// One rank reports an error that no rank catches.
//
// Problem: an exception that leaves main() ends each rank with messages of the language, the signal
// and MPI: dozens of lines from several ranks at once.
// Method: std::terminate() calls a function that prints a stria::Error in one line, and ends
// the job. A collective call throws on every rank. Rank 0 speaks at once, the others only if
// the job has not ended by then. Other exceptions, and programs with a handler of their own,
// are left alone.
#pragma once

namespace stria {

/// Installs the function at the first call. To be called by everything that may throw to programs
/// of several ranks. Local.
void speak_for_uncaught_errors();

}  // namespace stria
