#include "report/storage_limit.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

constexpr size_t kChunkBytes = size_t{8} << 20;
constexpr int64_t kMostBytes = int64_t{512} << 20;
constexpr double kMostSeconds = 1;

// Nothing that a file system could compress.
std::vector<uint64_t> noise() {
  std::vector<uint64_t> chunk(kChunkBytes / sizeof(uint64_t));
  std::mt19937_64 random(1);
  for (uint64_t& word : chunk) {
    word = random();
  }
  return chunk;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Status write_chunk(int descriptor, const std::vector<uint64_t>& chunk) {
  const char* data = reinterpret_cast<const char*>(chunk.data());
  for (size_t done = 0; done < kChunkBytes;) {
    const ssize_t written = ::write(descriptor, data + done, kChunkBytes - done);
    if (written < 0 && errno != EINTR) {
      return Status::from_errno(errno, "write the probe's file");
    }
    done += written > 0 ? static_cast<size_t>(written) : 0;
  }
  return {};
}

}  // namespace

StorageLimit given_limit(double mb_per_second) {
  return {mb_per_second * 1e6, "as given", true};
}

Result<StorageLimit> probe_limit(const std::string& directory, bool durable) {
  std::string name = directory + "/.stria_probe_XXXXXX";
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) {
    return Status::from_errno(errno, fmt::format("make a file in '{}' to probe the storage", directory));
  }
  ::unlink(name.c_str());
  const std::vector<uint64_t> chunk = noise();
  const auto begin = std::chrono::steady_clock::now();
  int64_t bytes = 0;
  Status status;
  while (status.ok() && bytes < kMostBytes && seconds_since(begin) < kMostSeconds) {
    status = write_chunk(descriptor, chunk);
    bytes += static_cast<int64_t>(kChunkBytes);
  }
  if (status.ok() && durable && ::fdatasync(descriptor) != 0) {
    status = Status::from_errno(errno, "sync the probe's file");
  }
  const double seconds = seconds_since(begin);
  ::close(descriptor);
  STRIA_RETURN_IF_ERROR(status.with_context(fmt::format("probe of '{}'", directory)));
  const double rate = static_cast<double>(bytes) / seconds;
  return StorageLimit{rate,
                      fmt::format("which one process wrote to {} in a probe of {}{}", directory,
                                  bytes_text(static_cast<double>(bytes)), durable ? " and a sync" : " without sync"),
                      true};
}

StorageLimit limit_of(const RunDigest& run) {
  if (run.best_rate() <= 0) {
    return {};
  }
  return {run.best_rate(),
          fmt::format("the best that this run's own requests reached, over {}", seconds_text(run.best_rate_window_seconds())),
          false};
}

}  // namespace stria::tool
