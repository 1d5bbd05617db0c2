#include "report/storage_limit.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "report/rule.hpp"

namespace stria::tool {

namespace {

constexpr size_t kChunkBytes = size_t{8} << 20;
constexpr int64_t kMostBytes = int64_t{256} << 20;
constexpr double kMostSeconds = 0.5;
constexpr int kMostWriters = 64;  // in one probe, which runs on one node

// Data that no file system can compress.
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

/// One of the probe's writers and the file that it writes, which has no name.
struct Writer {
  int descriptor = -1;
  int64_t bytes = 0;
  Status status;

  void open(const std::string& directory) {
    std::string name = directory + "/.stria_probe_XXXXXX";
    descriptor = ::mkstemp(name.data());
    if (descriptor < 0) {
      status = Status::from_errno(errno, fmt::format("make a file in '{}' to probe the storage", directory));
    } else {
      ::unlink(name.c_str());
    }
  }
  void write(const std::vector<uint64_t>& chunk) {
    const char* data = reinterpret_cast<const char*>(chunk.data());
    for (size_t done = 0; done < kChunkBytes;) {
      const ssize_t written = ::write(descriptor, data + done, kChunkBytes - done);
      if (written < 0 && errno != EINTR) {
        status = Status::from_errno(errno, "write the probe's file");
        return;
      }
      done += written > 0 ? static_cast<size_t>(written) : 0;
    }
    bytes += static_cast<int64_t>(kChunkBytes);
  }
  void write_until_enough(const std::vector<uint64_t>& chunk, std::atomic<int64_t>& budget_bytes, bool durable) {
    const auto begin = std::chrono::steady_clock::now();
    while (status.ok() && seconds_since(begin) < kMostSeconds &&
           budget_bytes.fetch_sub(static_cast<int64_t>(kChunkBytes)) > 0) {
      write(chunk);
    }
    if (status.ok() && durable && ::fdatasync(descriptor) != 0) {
      status = Status::from_errno(errno, "sync the probe's file");
    }
  }
};

}  // namespace

StorageLimit given_limit(double mb_per_second) {
  return {.bytes_per_second = mb_per_second * 1e6, .source = "as given"};
}

Result<StorageLimit> probe_limit(const std::string& directory, bool durable, int writer_count) {
  const int at_once = std::clamp(writer_count, 1, kMostWriters);
  std::vector<Writer> writers(static_cast<size_t>(at_once));
  for (Writer& writer : writers) {
    writer.open(directory);
  }
  const std::vector<uint64_t> chunk = noise();
  std::atomic<int64_t> budget_bytes{kMostBytes};
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (Writer& writer : writers) {
      threads.emplace_back([&] { writer.write_until_enough(chunk, budget_bytes, durable); });
    }
  }
  const double seconds = seconds_since(begin);
  int64_t bytes = 0;
  Status status;
  for (const Writer& writer : writers) {
    if (writer.descriptor >= 0) {
      ::close(writer.descriptor);
    }
    bytes += writer.bytes;
    status.update(writer.status);
  }
  STRIA_RETURN_IF_ERROR(status.with_context(fmt::format("probe of '{}'", directory)));
  const std::string who = at_once == 1              ? "one writer"
                          : at_once == writer_count ? fmt::format("{} writers at once, as many as the run had,", at_once)
                                                    : fmt::format("{} writers at once (the run had {})", at_once, writer_count);
  return StorageLimit{static_cast<double>(bytes) / seconds,
                      fmt::format("which {} wrote to {} in a probe of {}{}", who,
                                  std::filesystem::absolute(directory).lexically_normal().string(),
                                  bytes_text(static_cast<double>(bytes)), durable ? " and a sync" : " without sync")};
}

std::string directory_to_probe(const RunDigest& run) {
  std::array<char, HOST_NAME_MAX + 1> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::vector<trace::RankInfo>& ranks = run.trace().ranks;
  if (std::none_of(ranks.begin(), ranks.end(), [&](const trace::RankInfo& rank) { return rank.host == host.data(); })) {
    return "";
  }
  const int most = run.counters().file_of_most(trace::Counter::kBytesWritten, trace::Counter::kBytesRead);
  if (most < 0) {
    return "";
  }
  const std::filesystem::path path = run.trace().files[static_cast<size_t>(most)];
  const std::string directory = path.parent_path().string();
  return path.is_absolute() && ::access(directory.c_str(), W_OK | X_OK) == 0 ? directory : "";
}

}  // namespace stria::tool
