#include "server/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "server/connections/resources/io_threads.hpp"
#include "server/objects/objects.hpp"

namespace stria::server {

namespace {

// Names, listening sockets and those with which the program was started need some, too.
constexpr size_t kOtherDescriptors = 32;
constexpr size_t kLeastOpenObjects = 4;

}  // namespace

DescriptorShares share_descriptors(size_t connections, size_t loops) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {connections, Objects::kMostOpen};
  }
  limit.rlim_cur = std::max(limit.rlim_cur, std::min<rlim_t>(limit.rlim_max, 1 << 16));
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto all = static_cast<size_t>(limit.rlim_cur);
  const size_t left = all - std::min(all, kOtherDescriptors + loops * IoThreads::kDescriptors);
  connections = std::min(connections, std::max<size_t>(left / 2, 1));
  return {connections, std::clamp((left - std::min(left, connections)) / 2, kLeastOpenObjects, Objects::kMostOpen)};
}

}  // namespace stria::server
