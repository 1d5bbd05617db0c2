// The part of this rank while it is written: memory, until it gets a file. The caller guards it,
// but for has_file() and dropped().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stria/status.hpp"
#include "trace/events/event.hpp"
#include "trace/format/part.hpp"

namespace stria::trace {

class PartWriter {
 public:
  PartWriter() = default;
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;
  ~PartWriter();

  /// `header` identifies this rank. It may be given again, when ranks find each other later.
  void identify(const RankHeader& header);
  const RankHeader& header() const { return header_; }
  /// The part is a file from now on. It is made here, or renamed where there is one already; what
  /// was recorded before comes first.
  Status open(const std::string& path);
  bool has_file() const { return has_file_.load(std::memory_order_relaxed); }

  /// Appends sections. Where they can't be written, or the part has ended, their records count as
  /// lost. What has none always has room in memory: names, counters, and the end, which tells it.
  void write(std::span<const std::byte> bytes, int64_t record_count = 0);
  void write_records(uint32_t thread, std::span<const Record> records);
  /// Writes the end. Further bytes are dropped.
  void end(int64_t clock_ns);
  int64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

  /// Reads at most `bytes` bytes of the ended part from `offset`, without the file's header; fewer
  /// only at its end.
  Result<std::vector<std::byte>> read(int64_t offset, int64_t bytes) const;
  /// Drops the part and removes its file.
  void discard();

 private:
  RankHeader header_;
  std::vector<std::byte> pending_;  ///< bytes of the part that are not in its file
  std::vector<std::byte> encoded_;  ///< kept for its memory
  std::string path_;
  int file_ = -1;
  std::atomic<bool> has_file_{false};
  int64_t file_bytes_ = 0;
  bool ended_ = false;
  std::atomic<int64_t> dropped_{0};
};

}  // namespace stria::trace
