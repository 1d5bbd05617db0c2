// Describes what is always counted, for each file on each rank. The names are those in the trace
// file and in the tools.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace stria::trace {

/// Each is a 64-bit number; times are in nanoseconds, sizes in bytes. A *piece* is a contiguous
/// range of the file within one request; neighbours in a request are one piece.
enum class Counter : int {
  kOpens,
  kCloses,
  kSyncs,
  kReadRequests,  ///< calls to the storage, each with a list of pieces
  kWriteRequests,
  kReadPieces,
  kWritePieces,
  kBytesRead,
  kBytesWritten,
  kMaxReadEnd,  ///< one past the highest byte read
  kMaxWriteEnd,
  kConsecutiveReads,  ///< pieces that begin where the piece before ended
  kConsecutiveWrites,
  kSequentialReads,  ///< pieces that begin at or behind the end of the piece before
  kSequentialWrites,
  /// Pieces at the same distance from the piece before as that one was from its own.
  kStridedReads,
  kStridedWrites,
  kUnalignedReads,  ///< pieces that don't begin at a multiple of the alignment
  kUnalignedWrites,
  kAlignmentBytes,  ///< the alignment: stripe, lock unit or block of the file
  kMaxPiecesOfRead,
  kMaxPiecesOfWrite,
  kMaxReadNs,  ///< the slowest request
  kMaxWriteNs,
  kReadRequestNs,  ///< the time that callers spent in requests, all together
  kWriteRequestNs,
  kPuts,  ///< calls by the application
  kGets,
  kBytesPut,
  kBytesGot,
  kCommits,          ///< flushes and commits
  kTransfersListIo,  ///< those of these that a method made
  kTransfersTwoPhase,
  kTransfersOther,
  kAggregated,  ///< transfers in which this rank was an aggregator
  kOpenNs,      ///< times by phase
  kMetadataNs,
  kPackNs,
  kUnpackNs,
  kExchangeNs,
  kWriteNs,
  kReadNs,
  kSyncNs,
  kCommitNs,
  /// Time spent waiting, within phases and between them: for other ranks, for the node's turn, for
  /// a request of its own.
  kWaitNs,
  kBackgroundNs,      ///< time in which commits went on by themselves
  kBackgroundCpuNs,   ///< the processor time that their thread took
  kBackgroundWaitNs,  ///< time in which the program waited for them
  kUnstagedBytes,     ///< those written in the call, because they didn't fit into memory
  kReadSizes0,        ///< pieces by size, in ten bins: see kSizeBinEnds
  kWriteSizes0 = kReadSizes0 + 10,
  /// The four most common sizes of pieces, and how many pieces had each.
  kCommonSize1 = kWriteSizes0 + 10,
  kCommonSize1Count,
  kCommonSize2,
  kCommonSize2Count,
  kCommonSize3,
  kCommonSize3Count,
  kCommonSize4,
  kCommonSize4Count,
  /// The four most common distances between the beginnings of pieces, and how many pieces had each.
  kCommonStride1,
  kCommonStride1Count,
  kCommonStride2,
  kCommonStride2Count,
  kCommonStride3,
  kCommonStride3Count,
  kCommonStride4,
  kCommonStride4Count,
};
inline constexpr int kCounterCount = static_cast<int>(Counter::kCommonStride4Count) + 1;

/// Darshan's bins: sizes up to and including these, and the last for all above.
inline constexpr std::array<int64_t, 9> kSizeBinEnds = {100,       1000,       10'000,      100'000,      1'000'000,
                                                        4'000'000, 10'000'000, 100'000'000, 1'000'000'000};
inline constexpr int kSizeBinCount = 10;
/// Returns "0-100", "100-1K", … "1G+".
const char* size_bin_name(int bin);
int size_bin(int64_t bytes);

/// Returns the stable name of each counter, e.g. "bytes_written", "write_sizes_1M-4M".
const char* counter_name(Counter counter);

/// Tells whether the values of several ranks are added. The others are maxima, or belong together
/// (common sizes and strides).
bool counter_is_sum(Counter counter);

}  // namespace stria::trace
