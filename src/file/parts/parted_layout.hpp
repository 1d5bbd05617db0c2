// The places of raw data in a file that is kept in several.
//
// Datasets of at least one dimension and one element, which are not in chunks, get a place in the
// address space of storage::PartMap, and a place for their share in each part. All others, and
// Stria's own tables, stay in the master, where the format's own layout puts them. Every rank
// computes the same places without any communication.
#pragma once

#include <memory>
#include <vector>

#include "container/container.hpp"
#include "storage/parted/part_map.hpp"

namespace stria::file {

/// Returns the dataset by which a part is known to belong to its master.
container::DatasetSpec mark_dataset();

class PartedLayout final : public container::Layout {
 public:
  PartedLayout(const container::FileFormat& format, int part_count);

  Status prepare(container::DatasetSpec& spec) const override { return master_->prepare(spec); }
  Status note_table(const container::DatasetSpec& spec) override { return master_->note_table(spec); }
  Status note_attribute(const container::AttributeSpec& attribute) override { return master_->note_attribute(attribute); }
  Status note_link(const container::LinkSpec& link) override { return master_->note_link(link); }
  Result<int64_t> place(const container::DatasetSpec& spec) override;
  Result<int64_t> place_chunks(const container::DatasetSpec& spec, int64_t bytes) override {
    return master_->place_chunks(spec, bytes);
  }
  /// Gives the mark of each part its place, behind all that the part has. Once.
  Status place_marks();
  /// Returns the end of the master.
  int64_t end() const override { return master_->end(); }

  /// The map has the ends of the raw data in each part, but no names.
  const std::shared_ptr<storage::PartMap>& map() const { return map_; }
  const container::Layout& of_part(int number) const { return *parts_[static_cast<size_t>(number)]; }

 private:
  Result<int64_t> place_share(const container::DatasetSpec& spec, int part, int64_t address, int64_t bytes);

  std::unique_ptr<container::Layout> master_;
  std::vector<std::unique_ptr<container::Layout>> parts_;
  std::shared_ptr<storage::PartMap> map_ = std::make_shared<storage::PartMap>();
  int64_t end_ = storage::PartMap::kFirstAddress;
};

}  // namespace stria::file
