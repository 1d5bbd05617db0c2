// Tells which file rank 0 has opened, so that no other rank opens one that got the name meanwhile.
#pragma once

#include <cstdint>

#include "comm/comm.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

class FileIdentity {
 public:
  explicit FileIdentity(const Comm& comm) : comm_(comm) {}

  void set(const storage::Identity& of_rank_0) { identity_ = of_rank_0; }
  /// This rank's storage::OpenOptions take this number: see there.
  uint64_t expected_number() const;
  /// Checks that a handle that this rank has opened by name belongs to rank 0's file, as far as its
  /// node can tell. Local.
  Status check(storage::File& file) const;

 private:
  bool is_on_node_of_rank_0() const;

  const Comm& comm_;
  storage::Identity identity_;  // nothing where it isn't known
};

}  // namespace stria::file
