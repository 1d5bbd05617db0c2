// One read or write of a file of a store: deals the caller's list or datatype out to the
// servers, and sends it.
//
// Method: each slot gets a message with the ranges that touch it, uncut. A list of the caller's
// memory, cut at the stripes, follows the same order. A batch ends where a slot's message is full.
// The reply to a read says where the slot's bytes end. If it has fewer than asked for, the rest is
// a hole or lies past the end of the file; the file's size tells which.
// Cost: 16 bytes (for reads 32) for each piece of memory in a batch.
#pragma once

#include <span>
#include <vector>

#include "storage/driver.hpp"
#include "storage/striped/call.hpp"
#include "storage/striped/striped_file.hpp"
#include "stria/datatype.hpp"

namespace stria::storage {

class TransferRun {
 public:
  explicit TransferRun(StripedFile& file);
  Status write(std::span<const WriteSegment> segments);
  Result<int64_t> read(std::span<const ReadSegment> segments);
  Status write_type(const TypeWindow& region, const std::byte* data);
  Result<int64_t> read_type(const TypeWindow& region, std::byte* data);

 private:
  /// What one server is asked for.
  struct Slot;

  void add(ByteRange range, std::byte* memory);
  void add_pieces(ByteRange range, std::byte* memory);
  Status add_window(const TypeWindow& region, std::byte* data);
  Status flush();
  Status run_batch();
  Status settle_short_reads();
  template <typename Part>
  Status each_window(const TypeWindow& region, Part part);

  StripedFile& file_;
  wire::Layout layout_;
  bool reads_ = false;
  const TypeWindow* region_ = nullptr;  ///< sent instead of lists
  std::vector<Slot> slots_;
  int64_t batch_ranges_ = 0;
  int64_t known_bytes_ = -1;  ///< size of the file, once it was asked for
  int64_t missing_bytes_ = 0;

 public:
  ~TransferRun();
};

}  // namespace stria::storage
