#include "file/move/progress_meter.hpp"

#include <algorithm>

namespace stria::file {

namespace {

constexpr int64_t kReports = 100;

}  // namespace

ProgressMeter::ProgressMeter(const std::function<void(const Progress&)>& report, std::span<const Transfer> transfers)
    : report_(report) {
  for (const Transfer& transfer : transfers) {
    progress_.total_bytes += transfer.region.size();
  }
}

void ProgressMeter::advance(int64_t bytes) {
  // Sums may look at bytes again.
  progress_.done_bytes = std::min(progress_.done_bytes + bytes, progress_.total_bytes);
  if (progress_.done_bytes >= next_bytes_ && progress_.done_bytes < progress_.total_bytes) {
    tell();
  }
}

void ProgressMeter::finish() {
  progress_.done_bytes = progress_.total_bytes;
  tell();
}

// What the program throws would leave the other ranks waiting.
void ProgressMeter::tell() noexcept {
  next_bytes_ = progress_.done_bytes + std::max<int64_t>(progress_.total_bytes / kReports, 1);
  if (report_) {
    try {
      report_(progress_);
    } catch (...) {
    }
  }
}

}  // namespace stria::file
