// The metadata of a new file, or what is added to those of an old one, on rank 0: objects made
// while the ranks pack, values that are known last, checksums and seal.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "container/container.hpp"
#include "file/checksums/chunk_sums.hpp"
#include "file/checksums/row_tables.hpp"
#include "file/define/definitions.hpp"
#include "file/write/metadata/gathered.hpp"
#include "file/write/old/old_content.hpp"

namespace stria::file {

class Metadata {
 public:
  /// Says what is to be made. It must outlive the metadata.
  struct Content {
    const Catalog& catalog;
    std::span<const RowTable> row_tables;
    const Definitions& definitions;
    const OldContent& old;     ///< what a file that grows had
    bool keeps_order = false;  ///< whether what is made in a new file keeps its order
  };

  /// Makes all objects; what the ranks gather while packing comes later.
  static Result<std::unique_ptr<Metadata>> build(const container::FileFormat& format, const container::Layout& layout,
                                                 const Content& content);
  /// Returns what the seal takes of a new file that other programs add rows to.
  static int64_t seal_bytes(size_t row_tables, size_t tables);
  /// Makes the image, with what all ranks have gathered; with a seal if `checksums`. Once.
  Status finish(GatheredByAll gathered, bool checksums);
  /// \pre finish() succeeded
  const container::SparseImage& image() const {
    STRIA_CHECK(image_.file_bytes > 0);
    return image_;
  }

 private:
  Metadata(std::unique_ptr<container::Writer> writer, const Content& content, bool in_parts)
      : writer_(std::move(writer)), content_(content), in_parts_(in_parts), old_ranges_(content.old.value_ranges) {}

  Status build_all();
  Status reserve_value_range(const DatasetEntry& dataset);
  Status fill_value_ranges(std::span<const ValueRange> ranges);
  Status remove_own_tables();
  Status place_chunks(std::vector<std::vector<SummedChunk>> chunks, bool checksums);
  Status renew_sums(const DatasetEntry& dataset, std::span<const SummedChunk> own, ChunkSums& sums) const;
  Result<std::vector<container::StoredChunk>> join_chunks(const DatasetEntry& dataset, std::vector<SummedChunk> own,
                                                          ChunkSums& sums) const;
  void unite_tables(std::vector<std::vector<TableShare>> shares, std::vector<std::byte>& records);
  Status create_slabs(std::vector<std::byte> records);
  Status create_room_for_seal();
  std::vector<SealedPart> new_parts();
  void seal();

  std::unique_ptr<container::Writer> writer_;
  Content content_;
  bool in_parts_;                // the seal has a sum for each stretch of the metadata
  bool has_chunk_sums_ = false;  // true without chunks, too: all files have the same tables
  size_t seal_parts_ = 0;        // those that the seal has room for
  std::vector<TableSeal> row_tables_;
  // The attributes minimum and maximum of each dataset that has them.
  std::vector<std::array<int, 2>> range_attributes_;
  std::map<std::string, ValueRange> old_ranges_;  // Puts can only widen them.
  container::SparseImage image_;
};

}  // namespace stria::file
