#include "storage/posix/file_system/file_system.hpp"

#include <fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "storage/posix/calls/page_inserter.hpp"
#include "storage/posix/file_system/sharing.hpp"
#include "storage/posix/file_system/stripes.hpp"

namespace stria::storage {

namespace {

// Direct I/O aligned to pages works wherever direct I/O works at all. On ext4, a write that ends
// within a block takes the file's lock exclusively.
constexpr int64_t kCommonDirectAlign = 4096;

int64_t direct_alignment(int descriptor, uint32_t magic) {
  if (magic == kTmpfs || magic == kRamfs) {
    return 0;  // there is no device behind the page cache
  }
#ifdef STATX_DIOALIGN
  struct statx details = {};
  if (syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_DIOALIGN, &details) == 0 &&
      (details.stx_mask & STATX_DIOALIGN) != 0) {
    const int64_t needed = std::max(details.stx_dio_mem_align, details.stx_dio_offset_align);
    return needed == 0 ? 0 : std::max(needed, kCommonDirectAlign);
  }
#endif
  return kCommonDirectAlign;
}

}  // namespace

Capabilities probe_capabilities(int descriptor) {
  Capabilities capabilities;
  capabilities.asynchronous = true;
  struct stat basics = {};
  if (fstat(descriptor, &basics) == 0 && basics.st_blksize > 0) {
    capabilities.block_bytes = basics.st_blksize;
  }
  struct statfs system = {};
  const uint32_t magic = fstatfs(descriptor, &system) == 0 ? static_cast<uint32_t>(system.f_type) : 0;
  capabilities.node_local_cache = is_node_local(magic);
  const Sharing sharing = find_sharing(descriptor, magic);
  capabilities.locks_reach_all = sharing.locks_reach_all;
  capabilities.caches_apart = sharing.caches_apart;
  // Writers on one node don't disturb each other, as they share one page cache. GPFS locks by its
  // block; for other network file systems the block is the best guess.
  capabilities.lock_unit_bytes = capabilities.node_local_cache ? 1 : capabilities.block_bytes;
  if (const auto stripes = find_stripes(descriptor, magic)) {
    capabilities.stripe_bytes = stripes->stripe_bytes;
    capabilities.stripe_count = stripes->stripe_count;
    capabilities.lock_unit_bytes = stripes->stripe_bytes;
  }
  capabilities.direct_align_bytes = direct_alignment(descriptor, magic);
  // ext4 accounts for each new block while the file's lock is held, unless its space was
  // reserved before.
  capabilities.reserving_pays = magic == kExt4;
  capabilities.parallel_writes = PageInserter::can_serve(descriptor, basics, magic);
  return capabilities;
}

}  // namespace stria::storage
