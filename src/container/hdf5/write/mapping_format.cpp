#include "container/hdf5/write/mapping_format.hpp"

#include <algorithm>

#include "base/byte_range.hpp"
#include "base/check.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kHeapHeadBytes = 16;
constexpr int64_t kObjectHeadBytes = 16;
constexpr int64_t kLeastCollectionBytes = 4096;
constexpr size_t kManyBytes = 1 << 20;
constexpr int64_t kMostObjects = 65535;

// Names of sources have "%b" for a block's number, and "%%" for "%".
std::string escaped(const std::string& name) {
  std::string text;
  for (const char letter : name) {
    text.append(letter == '%' ? 2 : 1, letter);
  }
  return text;
}

// Writes the selection of whole rows: a regular hyperslab, version 2 (III.F).
void put_rows(Encoder& to, int64_t first_row, int64_t row_count, std::span<const int64_t> dims) {
  constexpr int64_t kHyperslab = 2;
  constexpr int64_t kRegular = 1;
  const auto rank = static_cast<int64_t>(dims.size());
  to.number(kHyperslab, 4).number(2, 4).number(kRegular, 1).number(4 + rank * 32, 4).number(rank, 4);
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    to.number(dim == 0 ? first_row : 0, 8).number(1, 8).number(1, 8).number(dim == 0 ? row_count : dims[dim], 8);
  }
}

}  // namespace

bool GlobalHeap::is_full() const {
  return count_ == kMostObjects || objects_.size() >= kManyBytes;
}

int64_t GlobalHeap::add(std::span<const std::byte> object) {
  constexpr int64_t kReferences = 1;
  const auto bytes = static_cast<int64_t>(object.size());
  objects_.number(++count_, 2).number(kReferences, 2).zeros(4).number(bytes, 8).bytes(object);
  objects_.zeros(static_cast<size_t>(align_up(bytes, 8) - bytes));
  return count_;
}

std::vector<std::byte> GlobalHeap::take() {
  const auto used = kHeapHeadBytes + static_cast<int64_t>(objects_.size());
  // What is free is an object too, of number 0, whose size includes its head.
  const int64_t bytes = std::max(used + kObjectHeadBytes, kLeastCollectionBytes);
  Encoder collection(static_cast<size_t>(bytes));
  collection.text("GCOL").number(1, 1).zeros(3).number(bytes, 8).bytes(objects_.view());
  collection.zeros(8).number(bytes - used, 8).zeros(static_cast<size_t>(bytes - used - kObjectHeadBytes));
  objects_ = Encoder();
  count_ = 0;
  return collection.take();
}

std::vector<std::byte> mapping_block(const std::string& path, std::span<const int64_t> dims,
                                     std::span<const RowsElsewhere> elsewhere) {
  STRIA_ASSERT(!dims.empty(), path);
  Encoder block;
  block.number(0, 1).number(static_cast<int64_t>(elsewhere.size()), 8);
  for (const RowsElsewhere& rows : elsewhere) {
    block.text(escaped(rows.file_name)).zeros(1).text(escaped(path)).zeros(1);
    put_rows(block, 0, rows.row_count, dims);
    put_rows(block, rows.first_row, rows.row_count, dims);
  }
  return block.checksum().take();
}

void put_virtual_layout(Encoder& to, const HeapPlace& mappings) {
  to.number(4, 1).number(3, 1).number(mappings.address, 8).number(mappings.index, 4);
}

}  // namespace stria::container::h5
