// Each connection of a server has a descriptor, and each open object two.
#pragma once

#include <cstddef>

namespace stria::server {

struct DescriptorShares {
  size_t connections = 0;  ///< so many there may be
  size_t open_objects = 0;
};

/// Raises the process's limit of descriptors, and deals them out: at most `connections`, and fewer
/// where the limit stays low. `loops`: the threads that wait for events.
DescriptorShares share_descriptors(size_t connections, size_t loops);

}  // namespace stria::server
