#include "hdf5/shared/page_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

namespace stria::hdf5 {

std::unique_ptr<PageFile> PageFile::open(const std::string& name) {
  struct statfs system {};
  if (statfs(name.c_str(), &system) != 0 || system.f_type != TMPFS_MAGIC) {
    return nullptr;
  }
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    return nullptr;
  }
  std::unique_ptr<PageFile> file(new PageFile(name, descriptor));
  return file->opened_.capabilities().parallel_writes ? std::move(file) : nullptr;
}

PageFile::PageFile(const std::string& name, int descriptor)
    : opened_(storage::real_system_calls(), name, descriptor, storage::OpenOptions()) {}

bool PageFile::write(ByteRange place, const std::byte* bytes) {
  const storage::WriteSegment segment{place.begin, bytes, place.size()};
  return transfers_.write({&segment, 1}).ok();
}

}  // namespace stria::hdf5
