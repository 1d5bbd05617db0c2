#include "trace/counters/counters.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace stria::trace {

namespace {

constexpr const char* kBinNames[kSizeBinCount] = {"0-100", "100-1K", "1K-10K",   "10K-100K", "100K-1M",
                                                  "1M-4M", "4M-10M", "10M-100M", "100M-1G",  "1G+"};

constexpr const char* kPlainNames[] = {"opens",
                                       "closes",
                                       "syncs",
                                       "read_requests",
                                       "write_requests",
                                       "read_pieces",
                                       "write_pieces",
                                       "bytes_read",
                                       "bytes_written",
                                       "max_read_end",
                                       "max_write_end",
                                       "consecutive_reads",
                                       "consecutive_writes",
                                       "sequential_reads",
                                       "sequential_writes",
                                       "strided_reads",
                                       "strided_writes",
                                       "unaligned_reads",
                                       "unaligned_writes",
                                       "alignment_bytes",
                                       "max_pieces_of_read",
                                       "max_pieces_of_write",
                                       "max_read_ns",
                                       "max_write_ns",
                                       "read_request_ns",
                                       "write_request_ns",
                                       "puts",
                                       "gets",
                                       "bytes_put",
                                       "bytes_got",
                                       "commits",
                                       "transfers_list_io",
                                       "transfers_two_phase",
                                       "transfers_other",
                                       "aggregated",
                                       "open_ns",
                                       "metadata_ns",
                                       "pack_ns",
                                       "unpack_ns",
                                       "exchange_ns",
                                       "write_ns",
                                       "read_ns",
                                       "sync_ns",
                                       "commit_ns",
                                       "wait_ns",
                                       "background_ns",
                                       "background_cpu_ns",
                                       "background_wait_ns",
                                       "unstaged_bytes"};
static_assert(std::size(kPlainNames) == static_cast<size_t>(Counter::kReadSizes0));

std::array<std::string, kCounterCount> make_names() {
  std::array<std::string, kCounterCount> names;
  std::copy(std::begin(kPlainNames), std::end(kPlainNames), names.begin());
  for (size_t bin = 0; bin < kSizeBinCount; ++bin) {
    names[static_cast<size_t>(Counter::kReadSizes0) + bin] = std::string("read_sizes_") + kBinNames[bin];
    names[static_cast<size_t>(Counter::kWriteSizes0) + bin] = std::string("write_sizes_") + kBinNames[bin];
  }
  for (size_t place = 0; place < 4; ++place) {
    const std::string number = std::to_string(place + 1);
    names[static_cast<size_t>(Counter::kCommonSize1) + 2 * place] = "common_size_" + number;
    names[static_cast<size_t>(Counter::kCommonSize1) + 2 * place + 1] = "common_size_" + number + "_count";
    names[static_cast<size_t>(Counter::kCommonStride1) + 2 * place] = "common_stride_" + number;
    names[static_cast<size_t>(Counter::kCommonStride1) + 2 * place + 1] = "common_stride_" + number + "_count";
  }
  return names;
}

}  // namespace

const char* size_bin_name(int bin) {
  return kBinNames[bin];
}

int size_bin(int64_t bytes) {
  return static_cast<int>(std::lower_bound(kSizeBinEnds.begin(), kSizeBinEnds.end(), bytes) - kSizeBinEnds.begin());
}

const char* counter_name(Counter counter) {
  static const std::array<std::string, kCounterCount> names = make_names();
  return names[static_cast<size_t>(counter)].c_str();
}

bool counter_is_sum(Counter counter) {
  switch (counter) {
    case Counter::kMaxReadEnd:
    case Counter::kMaxWriteEnd:
    case Counter::kAlignmentBytes:
    case Counter::kMaxPiecesOfRead:
    case Counter::kMaxPiecesOfWrite:
    case Counter::kMaxReadNs:
    case Counter::kMaxWriteNs:
      return false;
    default:
      return counter < Counter::kCommonSize1;
  }
}

}  // namespace stria::trace
