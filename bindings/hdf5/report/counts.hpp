// Describes what became of the program's transfers, for STRIA_VERBOSE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace stria::hdf5 {

/// Why a transfer passes through as it comes.
enum class Reason : size_t {
  kContiguous,  ///< its memory is in one piece
  kNothing,     ///< this process moves no elements
  kSameShape,   ///< chunks, with memory and file selected alike: HDF5's own way is as fast
  kUnknown,     ///< a selection that can't be described, or arguments that HDF5 refuses
  kNoMemory,    ///< there is no room to pack
  kLarge,       ///< more than STRIA_HDF5_BUFFER, in a transfer that can't be cut
  kOldLibrary,  ///< HDF5 older than 1.10
  kTurnedOff,   ///< STRIA_HDF5=off
};
inline constexpr size_t kReasonCount = 8;

/// Counts a transfer that is packed. Thread-safe.
void count_packed(bool writes, int64_t bytes, const std::string& library_version);
/// One of those that are packed has its numbers converted on the way.
void count_converted(bool writes);
/// A collective call of MPI by which HDF5 moves data is made by this rank alone
/// (shared/shared_files.hpp).
void count_alone(bool writes);
/// A write of MPI is made by inserting whole pages into a file on tmpfs (shared/page_file.hpp).
void count_by_pages();
/// A write that is packed is held back.
void count_deferred();
void count_passed(bool writes, Reason reason, const std::string& library_version);

}  // namespace stria::hdf5
