// Tells where the time of an I/O operation goes: the seconds of each phase, measured on every rank,
// always.
#pragma once

#include <array>
#include <cstddef>

namespace stria {

/// The phases of a write or a read.
enum class Phase : int {
  kOpen,      ///< opening and creating files
  kMetadata,  ///< making or reading the self-describing part
  kPack,      ///< memory to buffers, with conversion and checksums
  kUnpack,    ///< buffers to memory
  kExchange,  ///< descriptions, messages and waiting for other ranks
  kWrite,     ///< handing bytes to the storage, or waiting until it took them
  kRead,      ///< taking bytes from the storage
  kSync,      ///< making them durable
  kCommit,    ///< agreeing on the outcome, renaming
};
inline constexpr size_t kPhaseCount = 9;

/// Returns the stable lower-case name, e.g. "exchange".
const char* phase_name(Phase phase);

/// The seconds of each phase. Phases don't overlap on a rank, so that their sum is at most the
/// time of the whole.
struct PhaseTimes {
  std::array<double, kPhaseCount> seconds{};

  double& operator[](Phase phase) { return seconds[static_cast<size_t>(phase)]; }
  double operator[](Phase phase) const { return seconds[static_cast<size_t>(phase)]; }
  double total() const;
};

}  // namespace stria
