#include "file/parts/parted_layout.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"
#include "base/checked.hpp"
#include "file/define/hidden_table.hpp"
#include "file/define/names.hpp"

namespace stria::file {

namespace {

constexpr int64_t kPartAlignmentBytes = 4096;
// Shares of at least this size lie in their part as in the address space, page for page, so that
// both can be written in whole pages.
constexpr int64_t kManyPagesBytes = 16 * kPartAlignmentBytes;

bool stays_in_master(const container::DatasetSpec& spec, int64_t bytes) {
  return spec.dims.empty() || bytes == 0 || spec.chunking || spec.path.starts_with(std::string(kOwnGroup) + "/");
}

}  // namespace

container::DatasetSpec mark_dataset() {
  return hidden_bytes(own_path("part"), storage::PartMap::kMarkBytes);
}

PartedLayout::PartedLayout(const container::FileFormat& format, int part_count) : master_(format.make_layout()) {
  STRIA_CHECK(part_count >= 1, part_count);
  for (int part = 0; part < part_count; ++part) {
    parts_.push_back(format.make_layout());
  }
  map_->parts.resize(static_cast<size_t>(part_count));
}

Result<int64_t> PartedLayout::place(const container::DatasetSpec& spec) {
  STRIA_ASSIGN_OR_RETURN(const int64_t bytes, dataset_bytes(spec));
  if (stays_in_master(spec, bytes)) {
    return master_->place(spec);
  }
  storage::PartedArray array{.address = align_up(end_, kPartAlignmentBytes),
                             .row_count = spec.dims[0],
                             .row_bytes = bytes / spec.dims[0],
                             .offsets = {}};
  int64_t end = 0;
  if (!checked_add(array.address, bytes, &end) || end > INT64_MAX - kPartAlignmentBytes) {
    return Status(ErrorCode::kInvalidArgument, "the file would be larger than 2^63 bytes");
  }
  for (int part = 0; part < map_->part_count(); ++part) {
    const ByteRange rows = storage::rows_of_part(array.row_count, map_->part_count(), part);
    const int64_t address = array.address + rows.begin * array.row_bytes;
    STRIA_ASSIGN_OR_RETURN(const int64_t offset, place_share(spec, part, address, rows.size() * array.row_bytes));
    array.offsets.push_back(offset);
  }
  const int64_t address = array.address;
  map_->arrays.push_back(std::move(array));
  end_ = end;
  return address;
}

Status PartedLayout::place_marks() {
  for (int part = 0; part < map_->part_count(); ++part) {
    container::Layout& layout = *parts_[static_cast<size_t>(part)];
    storage::PartMap::Part& entry = map_->parts[static_cast<size_t>(part)];
    STRIA_CHECK(entry.mark_offset < 0, part, entry.mark_offset);
    STRIA_ASSIGN_OR_RETURN(entry.mark_offset, layout.place(mark_dataset()));
    entry.least_bytes = layout.end();
  }
  return Status();
}

Result<int64_t> PartedLayout::place_share(const container::DatasetSpec& spec, int part, int64_t address, int64_t bytes) {
  container::Layout& layout = *parts_[static_cast<size_t>(part)];
  container::DatasetSpec share = spec;
  const int64_t begin_in_page = bytes >= kManyPagesBytes ? address % kPartAlignmentBytes : 0;
  share.alignment_bytes = std::max(spec.alignment_bytes, bytes >= kManyPagesBytes ? kPartAlignmentBytes : 1);
  STRIA_ASSIGN_OR_RETURN(const int64_t offset, layout.place_chunks(share, begin_in_page + bytes));
  if (bytes == 0) {
    return -1;
  }
  STRIA_CHECK(offset >= 0 && offset + begin_in_page + bytes <= layout.end(), offset, bytes, layout.end());
  map_->parts[static_cast<size_t>(part)].least_bytes = layout.end();
  return offset + begin_in_page;
}

}  // namespace stria::file
