// One rank says of an error that no rank catches.
//
// Problem: an exception that leaves main() ends each rank with the language's words, the signal's
// and MPI's, dozens of lines of several ranks at once.
// Method: std::terminate() calls a function that says in one line what a stria::Error tells, and
// ends the job. A collective call throws on every rank: rank 0 speaks at once, others only where
// the job has not ended by then. What else ends a program, and programs with a handler of their
// own, are left alone.
#pragma once

namespace stria {

/// From the first call on. To be called by whatever may throw to programs of several ranks. Local.
void speak_for_uncaught_errors();

}  // namespace stria
