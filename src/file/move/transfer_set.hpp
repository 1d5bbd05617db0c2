// All pending puts or gets of one collective operation, in the form of the access layer: lanes, and
// a source or sink of packed streams.
//
// Stream number = position among the transfers. Packing converts, swaps, gathers minimum and
// maximum and hashes, in one pass while the bytes are in the cache.
// Cost: O(transfers + datasets) memory besides the hashes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "access/request/request.hpp"
#include "datatype/pack/pack.hpp"
#include "file/checksums/unit_hasher.hpp"
#include "file/move/progress_meter.hpp"
#include "file/move/transfer.hpp"

namespace stria::file {

class TransferSet : public access::StreamSource, public access::StreamSink {
 public:
  /// Says what to gather on the way.
  struct Options {
    bool checksums = false;
    bool value_ranges = false;
    ProgressMeter* progress = nullptr;  ///< hears of the bytes that pass by
    bool own_lanes = false;             ///< lanes for this rank's datasets only; it moves alone
  };

  /// `transfers` and `datasets` must outlive the set. All datasets have a data_offset.
  static Result<std::unique_ptr<TransferSet>> create(std::span<const Transfer> transfers,
                                                     std::span<const DatasetEntry> datasets, const Options& options);

  /// Returns one lane a dataset of the catalog, the same on every rank but for the streams; or of a
  /// dataset that has transfers (Options::own_lanes).
  std::span<const access::Lane> lanes() const { return lanes_; }
  int64_t piece_count() const;

  void pack(std::span<const access::StreamPart> parts) override;
  void unpack(std::span<const access::StreamPart> parts) override;
  const std::byte* straight_source(int stream_id) override;
  std::byte* straight_target(int stream_id) override;
  void passed_straight(int stream_id, int64_t begin, int64_t end) override;

  /// Packs without gathering anything.
  void sample(std::span<const access::StreamPart> parts);
  /// Another set gathers these bytes, whole rows of a transfer.
  void leave_out(int transfer, int64_t begin, int64_t end);

  /// Hashes from memory what was moved in an order that could not be hashed on the way
  /// (only for writes).
  void finish_sums();
  /// Null when checksums are not gathered.
  const UnitHasher* sums(size_t transfer) const;
  /// Returns the sums of raw chunks; null when checksums are not gathered.
  const UnitHasher* chunk_sums(size_t transfer) const;
  /// Returns one a transfer; empty when no dataset wants them.
  std::span<const ValueRange> value_ranges() const { return ranges_; }

 private:
  TransferSet(std::span<const Transfer> transfers, std::span<const DatasetEntry> datasets, const Options& options,
              Packer packer);
  void make_lanes(std::span<const DatasetEntry> all, const std::vector<int>& numbers);
  void prepare_directs(std::span<const DatasetEntry> datasets);
  void pack_slice(std::span<const access::StreamPart> parts, ByteRange slice);
  void observe(const access::StreamPart& part);
  void finish(size_t transfer, UnitHasher& hasher);
  void widen_range(size_t transfer, ByteRange range);
  void advance(std::span<const access::StreamPart> parts);
  void check_part(int stream_id, int64_t begin, int64_t end) const;
  void to_pack_parts(std::span<const access::StreamPart> parts);

  std::span<const Transfer> transfers_;
  ProgressMeter* progress_;
  Packer packer_;
  std::vector<access::Lane> lanes_;
  std::vector<std::optional<UnitHasher>> hashers_;
  std::vector<std::optional<UnitHasher>> chunk_hashers_;
  std::vector<ValueRange> ranges_;
  std::vector<std::byte*> straights_;
  std::vector<PackPart> pack_parts_;
  std::vector<access::StreamPart> slice_;
};

/// Returns the unit by which a transfer is hashed: rows where the dataset's rows are summed and the
/// transfer has whole ones, else all of it.
int64_t hash_unit_bytes(const Transfer& transfer, const DatasetEntry& dataset);
/// True when the transfer's checksums are rows of a table.
bool summed_by_rows(const Transfer& transfer, const DatasetEntry& dataset);

}  // namespace stria::file
