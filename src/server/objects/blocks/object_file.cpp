#include "server/objects/blocks/object_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.hpp"
#include "server/objects/blocks/block_content.hpp"

namespace stria::server {

ObjectFile::~ObjectFile() {
  if (map_ != nullptr) {
    munmap(map_, static_cast<size_t>(map_bytes_));
  }
  ::close(descriptor_);
}

Status ObjectFile::error(const char* operation, int error_number) const {
  return Status::from_errno(error_number, std::string(operation) + " '" + path_ + "' on the server");
}

bool ObjectFile::map(int64_t end) {
  const std::unique_lock lock(map_mutex_);
  if (end <= map_bytes_) {
    return true;
  }
  const int64_t wanted = align_up(std::max(end, 2 * map_bytes_), kMapUnitBytes);
  void* place = map_ == nullptr ? mmap(nullptr, static_cast<size_t>(wanted), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0)
                                : mremap(map_, static_cast<size_t>(map_bytes_), static_cast<size_t>(wanted), MREMAP_MAYMOVE);
  if (place == MAP_FAILED) {
    return false;
  }
  map_ = static_cast<std::byte*>(place);
  map_bytes_ = wanted;
  return true;
}

bool ObjectFile::can_map(int64_t end) {
  if (end > bytes_.load()) {
    return false;
  }
  {
    const std::shared_lock lock(map_mutex_);
    if (end <= map_bytes_) {
      return true;
    }
  }
  return map(end);
}

Status ObjectFile::get(ByteRange range, std::byte* to) const {
  STRIA_CHECK(0 <= range.begin && range.begin <= range.end, range.begin, range.end);
  if (range.begin >= bytes()) {
    std::memset(to, 0, static_cast<size_t>(range.size()));
    return {};
  }
  const int error_number = read_fully(descriptor_, range.begin, to, range.size());
  return error_number == 0 ? Status() : error("read", error_number);
}

Status ObjectFile::get_mapped(ByteRange range, std::byte* to) {
  const bool got = with_mapping([&](const std::byte* file) {
    STRIA_ASSERT(range.end <= map_bytes_, range.end, map_bytes_);
    auto copy = [&] { std::memcpy(to, file + range.begin, static_cast<size_t>(range.size())); };
    return guarded_copy(copy);
  });
  return got ? Status() : get(range, to);
}

bool ObjectFile::put_mapped(ByteRange range, const std::byte* data) {
  return with_mapping([&](std::byte* file) {
    STRIA_ASSERT(range.end <= map_bytes_, range.end, map_bytes_);
    auto copy = [&] { std::memcpy(file + range.begin, data, static_cast<size_t>(range.size())); };
    return guarded_copy(copy);
  });
}

Status ObjectFile::put(ByteRange range, const std::byte* data) {
  STRIA_CHECK(0 <= range.begin && range.begin <= range.end, range.begin, range.end);
  int64_t moved = 0;
  const int error_number =
      move_run(range.begin, const_cast<std::byte*>(data), range.size(), &moved,
               [&](std::byte* memory, size_t bytes, int64_t offset) { return pwrite(descriptor_, memory, bytes, offset); });
  int64_t known = bytes_.load();
  while (moved > 0 && known < range.begin + moved && !bytes_.compare_exchange_weak(known, range.begin + moved)) {
  }
  return error_number == 0 && moved == range.size() ? Status() : error("write", error_number == 0 ? EIO : error_number);
}

Status ObjectFile::resize(int64_t bytes, const char* operation) {
  STRIA_CHECK(bytes >= 0, bytes);
  if (ftruncate(descriptor_, bytes) != 0) {
    return error(operation, errno);
  }
  bytes_ = bytes;
  return {};
}

Status ObjectFile::reserve(int64_t bytes) {
  STRIA_CHECK(bytes >= 0, bytes);
  int result = 0;
  do {
    result = bytes == 0 ? 0 : fallocate(descriptor_, 0, 0, bytes);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    return error("preallocate", errno);
  }
  bytes_ = std::max(bytes_.load(), bytes);
  return {};
}

Status ObjectFile::sync() const {
  int result = 0;
  do {
    result = fdatasync(descriptor_);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : error("sync", errno);
}

int64_t ObjectFile::modified_ns() const {
  struct stat details = {};
  fstat(descriptor_, &details);
  return ns_of(details.st_mtim);
}

void ObjectFile::set_modified(int64_t ns) const {
  const timespec times[2] = {{0, UTIME_OMIT}, {ns / kSecondNs, ns % kSecondNs}};
  futimens(descriptor_, times);
}

}  // namespace stria::server
