#include "file/session/file_identity.hpp"

#include <fmt/format.h>

namespace stria::file {

bool FileIdentity::is_on_node_of_rank_0() const {
  const auto nodes = comm_.node_of_rank();
  return nodes[static_cast<size_t>(comm_.rank())] == nodes[0];
}

// The device's number is the same too on rank 0's node, so any difference counts.
uint64_t FileIdentity::expected_number() const {
  return is_on_node_of_rank_0() ? 0 : identity_.number;
}

// Another node may have another number for the device.
Status FileIdentity::check(storage::File& file) const {
  if (identity_ == storage::Identity() || !is_on_node_of_rank_0()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const storage::Identity mine, file.identity());
  return mine == identity_ ? Status()
                           : Status(ErrorCode::kIo, fmt::format("'{}' means another file than when rank 0 opened it: something "
                                                                "has renamed, removed or replaced it meanwhile",
                                                                file.path()));
}

}  // namespace stria::file
