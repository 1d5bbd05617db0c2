// One read or write of a file of a store: deals the caller's list or datatype out to the
// servers, and sends it.
//
// Method: each slot gets a message with the ranges that touch it, uncut. A list of the caller's
// memory, cut at the stripes, follows the same order. A batch ends where a slot's message is full.
// The reply to a read says where the slot's bytes end. If it has fewer than asked for, the batch is
// walked once more, piece by piece. The rest is a hole or lies past the end of the file; the file's
// size tells which.
// Cost: 16 bytes for each piece of memory in a batch, where neighbours are one, and for each range
// of a list; where a slot has fewer bytes, 40 more for each piece.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "storage/driver.hpp"
#include "storage/striped/call.hpp"
#include "storage/striped/slot_servers.hpp"
#include "storage/striped/striped_locks.hpp"
#include "stria/datatype.hpp"

namespace stria::storage {

class TransferRun {
 public:
  /// All must outlive this. `locks`: those of the same handle.
  TransferRun(SlotServers& servers, StripedLocks& locks, const std::string& path);
  Status write(std::span<const WriteSegment> segments);
  Result<int64_t> read(std::span<const ReadSegment> segments);
  Status write_type(const TypeWindow& region, const std::byte* data);
  Result<int64_t> read_type(const TypeWindow& region, std::byte* data);

 private:
  /// Holds what one server is asked for.
  struct Slot;

  void enter_stripe(int64_t offset);
  template <typename Visit>
  void each_piece(ByteRange range, std::byte* memory, Visit visit);
  template <typename Visit>
  void each_row(const TypeWindow& region, std::byte* data, Visit visit);
  void keep_pieces();
  void add_range(Slot& slot, ByteRange range);
  void add(ByteRange range, std::byte* memory);
  Status move_window(const TypeWindow& region, std::byte* data);
  Status flush();
  Status run_batch();
  Status settle_short_reads();
  template <typename Part>
  Status each_window(const TypeWindow& region, Part part);

  SlotServers& servers_;
  StripedLocks& locks_;
  const std::string& path_;
  wire::Layout layout_;
  bool reads_ = false;
  const TypeWindow* region_ = nullptr;  ///< sent instead of lists
  std::byte* region_data_ = nullptr;
  std::span<const ReadSegment> batch_;  ///< the batch of a read by lists: what the batch has so far
  bool has_pieces_ = false;             ///< the pieces of the batch
  ByteRange stripe_;                    ///< the one that was met last
  size_t stripe_slot_ = 0;
  std::vector<Slot> slots_;
  int64_t batch_ranges_ = 0;
  int64_t known_bytes_ = -1;  ///< size of the file, once it was asked for
  int64_t missing_bytes_ = 0;

 public:
  ~TransferRun();
};

}  // namespace stria::storage
