// Describes how a server may read what is on the disk and not in memory: 256 KiB after 256 KiB of a
// local file, by call, by mapping, and past the system's cache.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "measures.hpp"

namespace stria::bench {
namespace {

constexpr int64_t kStepBytes = 256 << 10;
constexpr int64_t kLineBytes = 64;

/// The file on the disk only, open in some way.
class ColdFile {
 public:
  ColdFile(const std::string& path, int flags) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | flags)) {
    need(descriptor_ >= 0, "the file can't be opened so");
    need(posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED) == 0, "the file can't be put out of memory");
  }
  ColdFile(const ColdFile&) = delete;
  ColdFile& operator=(const ColdFile&) = delete;
  ~ColdFile() { close(descriptor_); }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

double read_by_call(const std::string& path, int64_t bytes, int flags) {
  const std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(4096, kStepBytes), std::free);
  const ColdFile file(path, flags);
  const double begin = wall();
  for (int64_t at = 0; at < bytes; at += kStepBytes) {
    need(pread(file.get(), memory.get(), kStepBytes, at) == kStepBytes, "a short read");
  }
  return wall() - begin;
}

/// `ahead_bytes`: so far ahead the disk is told.
double read_by_mapping(const std::string& path, int64_t bytes, int64_t ahead_bytes) {
  const ColdFile file(path, 0);
  void* const place = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_SHARED, file.get(), 0);
  need(place != MAP_FAILED, "the file can't be mapped");
  const auto* const data = static_cast<const volatile unsigned char*>(place);
  const double begin = wall();
  unsigned sum = 0;
  for (int64_t at = 0; at < bytes; at += kStepBytes) {
    if (ahead_bytes > 0) {
      posix_fadvise(file.get(), at == 0 ? 0 : at + ahead_bytes, at == 0 ? kStepBytes + ahead_bytes : kStepBytes,
                    POSIX_FADV_WILLNEED);
    }
    for (int64_t line = at; line < at + kStepBytes; line += kLineBytes) {
      sum += data[line];
    }
  }
  const double seconds = wall() - begin;
  munmap(place, static_cast<size_t>(bytes));
  need(sum > 0, "the file is empty");
  return seconds;
}

}  // namespace

void measure_cold(const Arguments& arguments, storage::Driver& driver, Figures& figures) {
  const std::string path = arguments.directory + "/cold";
  std::vector<std::byte> data(static_cast<size_t>(arguments.size * kMiB));
  fill(data, 1);
  {
    const auto file = create(driver, path);
    const storage::WriteSegment all{0, data.data(), static_cast<int64_t>(data.size())};
    need(file->write({&all, 1}));
    need(file->sync());
  }
  const auto bytes = static_cast<int64_t>(data.size());
  for (int cycle = 0; cycle < arguments.cycles; ++cycle) {
    figures.add("call_s", read_by_call(path, bytes, 0));
    figures.add("mapping_s", read_by_mapping(path, bytes, 0));
    figures.add("mapping_ahead_s", read_by_mapping(path, bytes, kMiB));
    figures.add("direct_s", read_by_call(path, bytes, O_DIRECT));
  }
  need(driver.remove(path));
}

}  // namespace stria::bench
