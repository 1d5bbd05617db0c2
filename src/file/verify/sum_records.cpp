#include "file/verify/sum_records.hpp"

namespace stria::file {

SumRecords::SumRecords(const Catalog& catalog, const ChecksumIndex& sums) : of_(catalog.datasets().size()) {
  for (const std::string& path : sums.paths) {
    if (const auto number = catalog.find(path)) {
      of_[static_cast<size_t>(*number)].is_listed = true;
    }
  }
  for (size_t i = 0; i < sums.slabs.size(); ++i) {
    const SlabSum& slab = sums.slabs[i];
    if (const auto number = catalog.find(sums.paths[static_cast<size_t>(slab.dataset)])) {
      OfDataset& dataset = of_[static_cast<size_t>(*number)];
      if (slab.sum == kNoSum && catalog[*number].checksum_group >= 0) {
        dataset.put_again.push_back(hull_of(slab));
      } else {
        dataset.records.push_back(static_cast<int>(i));
      }
    }
  }
}

}  // namespace stria::file
