#include "container/hdf5/read/stored/fractal_heap.hpp"

#include <algorithm>
#include <bit>

#include "container/corrupted.hpp"
#include "container/hdf5/read/stored/decoder.hpp"
#include "container/hdf5/read/stored/superblock.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kChecksumBytes = 4;
constexpr int64_t kHeapNodeHeadBytes = 6;  // signature, version, type
constexpr int kHeapDepthMax = 64;

int64_t bytes_that_count_to(int64_t most) {
  return std::max<int64_t>((std::bit_width(static_cast<uint64_t>(most)) + 7) / 8, 1);
}

/// Reads the nodes of a B-tree of version 2, depth first.
class RecordWalk {
 public:
  explicit RecordWalk(const MetadataSource& source) : source_(source) {}
  Status read(int64_t address);
  std::vector<std::vector<std::byte>> take() { return std::move(records_); }

 private:
  /// Holds what a node of a level needs to be known.
  struct Level {
    int64_t records_max = 0;
    int64_t total_bytes = 0;  // the bytes of a number of records of a whole subtree
    int64_t total_max = 0;
  };
  void measure(int64_t depth);
  Status node(int64_t address, int64_t records, size_t level);

  const MetadataSource& source_;
  int64_t node_bytes_ = 0;
  int64_t record_bytes_ = 0;
  int64_t count_bytes_ = 0;  // the bytes of the number of records of a node
  std::vector<Level> levels_;
  int64_t total_ = 0;
  std::vector<std::vector<std::byte>> records_;
};

void RecordWalk::measure(int64_t depth) {
  const int64_t room = node_bytes_ - kHeapNodeHeadBytes - kChecksumBytes;
  Level leaf{.records_max = room / record_bytes_, .total_bytes = 0, .total_max = room / record_bytes_};
  count_bytes_ = bytes_that_count_to(leaf.records_max);
  levels_.push_back(leaf);
  for (int64_t i = 0; i < depth; ++i) {
    const Level& below = levels_.back();
    const int64_t pointer_bytes = source_.address_bytes + count_bytes_ + below.total_bytes;
    Level level;
    level.records_max = std::max<int64_t>((room - pointer_bytes) / (record_bytes_ + pointer_bytes), 0);
    level.total_max = std::min<int64_t>((level.records_max + 1) * below.total_max + level.records_max, int64_t{1} << 40);
    level.total_bytes = bytes_that_count_to(level.total_max);
    levels_.push_back(level);
  }
}

Status RecordWalk::read(int64_t address) {
  constexpr int64_t kTreeDepthMax = 16;
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source_, address, 16 + source_.address_bytes + 2 + source_.length_bytes));
  Decoder decoder(head);
  const bool is_known = decoder.is("BTHD") && decoder.number(1) == 0;
  decoder.take(1);
  node_bytes_ = decoder.number(4);
  record_bytes_ = decoder.number(2);
  const int64_t depth = decoder.number(2);
  decoder.take(2);  // when nodes are split and merged
  const int64_t root = decode_address(decoder, source_.address_bytes);
  const int64_t root_records = decoder.number(2);
  total_ = decoder.number(static_cast<size_t>(source_.length_bytes));
  const bool makes_sense = record_bytes_ > 0 && depth <= kTreeDepthMax &&
                           node_bytes_ > kHeapNodeHeadBytes + kChecksumBytes + record_bytes_ && total_ >= 0;
  if (!is_known || !makes_sense) {
    return corrupted("a B-tree makes no sense");
  }
  measure(depth);
  STRIA_RETURN_IF_ERROR(root >= 0 ? node(root, root_records, static_cast<size_t>(depth)) : Status());
  return static_cast<int64_t>(records_.size()) == total_ ? Status() : corrupted("a B-tree has another number of records");
}

Status RecordWalk::node(int64_t address, int64_t records, size_t level) {
  STRIA_ASSIGN_OR_RETURN(const auto content, read_bytes(source_, address, node_bytes_));
  Decoder decoder(content);
  const bool is_node = decoder.is(level > 0 ? "BTIN" : "BTLF");
  decoder.take(2);
  if (!is_node || records > levels_[level].records_max) {
    return corrupted("a node of a B-tree makes no sense");
  }
  const auto first = decoder.take(static_cast<size_t>(records * record_bytes_));
  const auto record = [&](int64_t i) {
    const auto bytes = first.subspan(static_cast<size_t>(i * record_bytes_), static_cast<size_t>(record_bytes_));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  };
  for (int64_t i = 0; level > 0 && i <= records; ++i) {
    const int64_t child = decode_address(decoder, source_.address_bytes);
    const int64_t child_records = decoder.number(static_cast<size_t>(count_bytes_));
    decoder.take(static_cast<size_t>(levels_[level - 1].total_bytes));
    if (!decoder.well()) {
      return corrupted("a node of a B-tree makes no sense");
    }
    STRIA_RETURN_IF_ERROR(node(child, child_records, level - 1));
    if (i < records) {
      records_.push_back(record(i));
    }
    if (static_cast<int64_t>(records_.size()) > total_) {
      return corrupted("a B-tree has another number of records");
    }
  }
  for (int64_t i = 0; level == 0 && i < records; ++i) {
    records_.push_back(record(i));
  }
  return Status();
}

}  // namespace

Result<std::vector<std::vector<std::byte>>> read_tree_records(const MetadataSource& source, int64_t address) {
  RecordWalk walk(source);
  STRIA_RETURN_IF_ERROR(walk.read(address));
  return walk.take();
}

Result<FractalHeap> FractalHeap::open(const MetadataSource& source, int64_t address) {
  const auto length_bytes = static_cast<size_t>(source.length_bytes);
  const int64_t head_bytes = 26 + 12 * source.length_bytes + 3 * source.address_bytes;
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source, address, head_bytes));
  FractalHeap heap(source);
  Decoder decoder(head);
  const bool is_known = decoder.is("FRHP") && decoder.number(1) == 0;
  decoder.take(2);
  const int64_t filter_bytes = decoder.number(2);
  decoder.take(1);
  heap.object_bytes_max_ = decoder.number(4);
  // What is free, how much is in use, and the objects that lie in no block.
  decoder.take(10 * length_bytes + 2 * static_cast<size_t>(source.address_bytes));
  heap.width_ = decoder.number(2);
  heap.first_block_bytes_ = decoder.number(length_bytes);
  heap.direct_block_bytes_max_ = decoder.number(length_bytes);
  heap.offset_bytes_ = (decoder.number(2) + 7) / 8;
  decoder.take(2);
  heap.root_address_ = decode_address(decoder, source.address_bytes);
  heap.root_rows_ = decoder.number(2);
  const auto is_power = [](int64_t value) { return value > 0 && std::has_single_bit(static_cast<uint64_t>(value)); };
  if (!is_known || !decoder.well() || !is_power(heap.width_) || !is_power(heap.first_block_bytes_) ||
      !is_power(heap.direct_block_bytes_max_) || heap.first_block_bytes_ > heap.direct_block_bytes_max_ ||
      heap.direct_block_bytes_max_ > int64_t{1} << 32 || heap.offset_bytes_ > 8 || heap.root_rows_ > kHeapDepthMax) {
    return corrupted("a fractal heap makes no sense");
  }
  return filter_bytes == 0 ? Result<FractalHeap>(heap) : Status(ErrorCode::kUnsupported, "a fractal heap with filters");
}

Result<std::vector<std::byte>> FractalHeap::object(std::span<const std::byte> id) const {
  constexpr int64_t kManaged = 0, kTiny = 2;
  Decoder decoder(id);
  const int64_t flags = decoder.number(1);
  const int64_t kind = flags >> 4 & 3;
  if (kind == kTiny) {
    const auto content = decoder.take(static_cast<size_t>((flags & 0x0f) + 1));
    return decoder.well() ? Result<std::vector<std::byte>>(std::vector<std::byte>(content.begin(), content.end()))
                          : corrupted("an object of a heap is cut short");
  }
  if (kind != kManaged) {
    return Status(ErrorCode::kUnsupported, "an object of a heap that lies in no block of it");
  }
  const int64_t length_bytes = std::min(bytes_that_count_to(direct_block_bytes_max_), bytes_that_count_to(object_bytes_max_));
  const int64_t offset = decoder.number(static_cast<size_t>(offset_bytes_));
  const int64_t bytes = decoder.number(static_cast<size_t>(length_bytes));
  return decoder.well() ? managed_object(offset, bytes) : corrupted("an object of a heap is cut short");
}

int64_t FractalHeap::row_block_bytes(int64_t row) const {
  return row == 0 ? first_block_bytes_ : first_block_bytes_ << (row - 1);
}

Result<std::vector<std::byte>> FractalHeap::managed_object(int64_t offset, int64_t bytes) const {
  if (offset < 0 || root_address_ < 0) {
    return corrupted("an object lies outside of its heap");
  }
  if (root_rows_ > 0) {
    return find(root_address_, root_rows_, {.offset = offset, .bytes = bytes}, 0);
  }
  return offset <= first_block_bytes_ && bytes <= first_block_bytes_ - offset
             ? read_bytes(*source_, root_address_ + offset, bytes)
             : corrupted("an object lies outside of its heap");
}

Result<std::vector<std::byte>> FractalHeap::find(int64_t block_address, int64_t rows, Wanted wanted, int depth) const {
  const int64_t direct_rows = std::countr_zero(static_cast<uint64_t>(direct_block_bytes_max_)) -
                              std::countr_zero(static_cast<uint64_t>(first_block_bytes_)) + 2;
  int64_t offset = wanted.offset;
  int64_t row = 0;
  for (; row < rows && row < 40 && offset >= width_ * row_block_bytes(row); ++row) {
    offset -= width_ * row_block_bytes(row);
  }
  if (row >= rows || row >= 40 || depth > kHeapDepthMax) {
    return corrupted("an object lies outside of its heap");
  }
  const int64_t block_bytes = row_block_bytes(row);
  const int64_t entry = row * width_ + offset / block_bytes;
  const int64_t head_bytes = 5 + source_->address_bytes + offset_bytes_;
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(*source_, block_address, head_bytes));
  STRIA_ASSIGN_OR_RETURN(const auto place, read_bytes(*source_, block_address + head_bytes + entry * source_->address_bytes,
                                                      source_->address_bytes));
  Decoder decoder(place);
  const int64_t child = decode_address(decoder, source_->address_bytes);
  if (!Decoder(head).is("FHIB") || child < 0) {
    return corrupted("an object lies outside of its heap");
  }
  offset %= block_bytes;
  if (row >= direct_rows) {
    const int64_t first_row_bits = std::countr_zero(static_cast<uint64_t>(first_block_bytes_ * width_));
    const int64_t child_rows = std::countr_zero(static_cast<uint64_t>(block_bytes)) - first_row_bits + 1;
    return find(child, child_rows, {.offset = offset, .bytes = wanted.bytes}, depth + 1);
  }
  return wanted.bytes <= block_bytes - offset ? read_bytes(*source_, child + offset, wanted.bytes)
                                              : corrupted("an object lies outside of its heap");
}

}  // namespace stria::container::h5
