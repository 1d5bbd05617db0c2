#include "hdf5/report/counts.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#ifndef STRIA_HDF5_NAME
#define STRIA_HDF5_NAME "libstria_hdf5"
#endif

namespace stria::hdf5 {

namespace {

struct Counts {
  std::array<std::atomic<int64_t>, 2> packed{};  // reads, writes
  std::array<std::atomic<int64_t>, 2> packed_bytes{};
  std::array<std::atomic<int64_t>, 2> converted{};
  std::atomic<int64_t> deferred{0};             // the packed writes that were deferred
  std::array<std::atomic<int64_t>, 2> alone{};  // MPI's collective calls that were made alone
  std::atomic<int64_t> by_pages{0};
  std::array<std::array<std::atomic<int64_t>, kReasonCount>, 2> passed{};
  std::string version;  // the version of the HDF5 that is called first
};

// They are never destroyed: they are told when the process ends.
Counts& counts() {
  static auto* instance = new Counts;
  return *instance;
}

constexpr std::array<const char*, kReasonCount> kWords{
    "in one piece in memory",     "without elements",          "of chunks that lie in memory as in the file",
    "of other selections",        "without memory to pack in", "larger than STRIA_HDF5_BUFFER",
    "by an HDF5 older than 1.10", "because STRIA_HDF5 is off"};

bool is_verbose() {
  const char* const text = std::getenv("STRIA_VERBOSE");
  return text != nullptr && *text != '\0' && std::strcmp(text, "0") != 0;
}

// MPI may have ended by now, and a serial program has none. What starts the ranks tells them.
bool is_first_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(name); rank != nullptr) {
      return std::strcmp(rank, "0") == 0;
    }
  }
  return true;
}

std::string describe(bool writes) {
  const size_t way = writes ? 1 : 0;
  std::string passed;
  int64_t passed_count = 0;
  for (size_t i = 0; i < kReasonCount; ++i) {
    if (const int64_t count = counts().passed[way][i]; count > 0) {
      passed += fmt::format("{}{} {}", passed.empty() ? "" : ", ", count, kWords[i]);
      passed_count += count;
    }
  }
  const int64_t packed = counts().packed[way];
  if (packed + passed_count == 0) {
    return "";
  }
  std::string text = fmt::format("{}: {} packed ({:.1f} MB)", writes ? "H5Dwrite" : "H5Dread", packed,
                                 static_cast<double>(counts().packed_bytes[way]) / 1e6);
  if (const int64_t converted = counts().converted[way]; converted > 0) {
    text += fmt::format(", {} of them converted", converted);
  }
  if (const int64_t deferred = counts().deferred; writes && deferred > 0) {
    text += fmt::format(", {} of them deferred", deferred);
  }
  if (const int64_t alone = counts().alone[way]; alone > 0) {
    text += fmt::format(", {} of MPI's collective {} made alone", alone, writes ? "writes" : "reads");
  }
  if (const int64_t by_pages = counts().by_pages; writes && by_pages > 0) {
    text += fmt::format(", {} of MPI's writes made by whole pages", by_pages);
  }
  if (passed_count > 0) {
    text += fmt::format(", {} passed through ({})", passed_count, passed);
  }
  return text;
}

/// Tells them at the end of the process.
struct AtEnd {
  ~AtEnd() {
    if (!is_verbose() || !is_first_rank() || counts().version.empty()) {
      return;
    }
    for (const bool writes : {true, false}) {
      if (const std::string text = describe(writes); !text.empty()) {
        std::fprintf(stderr, "stria: HDF5 %s under " STRIA_HDF5_NAME " " STRIA_VERSION ": %s\n", counts().version.c_str(),
                     text.c_str());
      }
    }
  }
} at_end;

void note_version(const std::string& version) {
  static std::once_flag noted;
  std::call_once(noted, [&] { counts().version = version; });
}

}  // namespace

void count_packed(bool writes, int64_t bytes, const std::string& library_version) {
  note_version(library_version);
  counts().packed[writes ? 1 : 0].fetch_add(1, std::memory_order_relaxed);
  counts().packed_bytes[writes ? 1 : 0].fetch_add(bytes, std::memory_order_relaxed);
}

void count_converted(bool writes) {
  counts().converted[writes ? 1 : 0].fetch_add(1, std::memory_order_relaxed);
}

void count_alone(bool writes) {
  counts().alone[writes ? 1 : 0].fetch_add(1, std::memory_order_relaxed);
}

void count_by_pages() {
  counts().by_pages.fetch_add(1, std::memory_order_relaxed);
}

void count_deferred() {
  counts().deferred.fetch_add(1, std::memory_order_relaxed);
}

void count_passed(bool writes, Reason reason, const std::string& library_version) {
  note_version(library_version);
  counts().passed[writes ? 1 : 0][static_cast<size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace stria::hdf5
