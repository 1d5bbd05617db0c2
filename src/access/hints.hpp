// The hints as the engine uses them: parsed, checked and with their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stria/hints.hpp"

namespace stria::access {

/// A choice that the planner makes unless the user did.
enum class Switch { kAutomatic, kEnable, kDisable };
enum class Method { kAutomatic, kListIo, kTwoPhase };

struct ResolvedHints {
  int aggregator_count = 0;                      ///< cb_nodes; 0: the planner's choice
  int64_t collective_buffer_bytes = 32 << 20;    ///< cb_buffer_size: all collective buffers of one aggregator together
  Switch collective_write = Switch::kAutomatic;  ///< romio_cb_write
  Switch collective_read = Switch::kAutomatic;   ///< romio_cb_read
  int64_t striping_unit_bytes = 0;               ///< striping_unit; 0: what the storage says
  Method method = Method::kAutomatic;            ///< stria_method
  int64_t staging_bytes = 4 << 20;     ///< stria_staging_size: the buffer through which a rank packs and writes by itself
  Switch direct = Switch::kAutomatic;  ///< stria_direct: past the page cache
  Switch shared_memory = Switch::kAutomatic;  ///< stria_shared_memory: ranks of a node pack into the aggregator's buffer
  std::string driver = "posix";               ///< stria_driver
  int64_t alignment_bytes = 4096;             ///< stria_alignment: where datasets of at least this size begin
};

/// Parses the hints; what can't be used keeps its default and adds a line to `warnings`.
ResolvedHints resolve_hints(const Hints& hints, std::vector<std::string>& warnings);

/// The values in effect, under the names that set them.
Hints effective_hints(const ResolvedHints& hints);

const char* method_name(Method method);

}  // namespace stria::access
