// Finds which records of sums each dataset of a file has.
//
// Problem: records name datasets by their place in the list of sums, and gets by their number in
// the catalog.
// Method: one pass over list and records, when both are known.
// Cost: 4 bytes a record, 16 for each whose rows were put again.
#pragma once

#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/define/catalog.hpp"

namespace stria::file {

class SumRecords {
 public:
  SumRecords() = default;
  SumRecords(const Catalog& catalog, const ChecksumIndex& sums);

  /// Tells whether the list of sums has the dataset: else another program has added it.
  bool is_listed(int dataset) const { return of_[static_cast<size_t>(dataset)].is_listed; }
  /// Returns the numbers of a dataset's records in ChecksumIndex::slabs.
  std::span<const int> of(int dataset) const { return of_[static_cast<size_t>(dataset)].records; }
  /// Returns the raw data of rows that have a sum of their own and were put again.
  std::span<const ByteRange> put_again(int dataset) const { return of_[static_cast<size_t>(dataset)].put_again; }

 private:
  struct OfDataset {
    bool is_listed = false;
    std::vector<int> records;
    std::vector<ByteRange> put_again;
  };
  std::vector<OfDataset> of_;
};

}  // namespace stria::file
