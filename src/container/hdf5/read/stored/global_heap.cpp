#include "container/hdf5/read/stored/global_heap.hpp"

#include <utility>

#include "base/byte_range.hpp"
#include "container/corrupted.hpp"
#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kCollectionBytesMin = 4096;

}  // namespace

Result<HeapCollection> HeapCollection::read(const MetadataSource& source, int64_t address) {
  const auto length_bytes = static_cast<size_t>(source.length_bytes);
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source, address, 8 + source.length_bytes));
  Decoder decoder(head);
  const bool is_known = decoder.is("GCOL") && decoder.number(1) == 1;
  decoder.take(3);
  const int64_t bytes = decoder.number(length_bytes);
  if (!is_known || bytes < kCollectionBytesMin) {
    return corrupted("a global heap is damaged");
  }
  HeapCollection collection;
  STRIA_ASSIGN_OR_RETURN(collection.content_, read_bytes(source, address, bytes));
  STRIA_RETURN_IF_ERROR(collection.index_objects(length_bytes));
  return collection;
}

Status HeapCollection::index_objects(size_t length_bytes) {
  const size_t head_bytes = 8 + length_bytes;  // bytes of an object: index, count, 4 reserved, size
  size_t at = head_bytes;                      // the collection's own has the same length
  while (content_.size() - at >= head_bytes) {
    Decoder decoder(std::span<const std::byte>(content_).subspan(at, head_bytes));
    const int64_t index = decoder.number(2);
    decoder.take(6);
    const int64_t bytes = decoder.number(length_bytes);
    const auto left = static_cast<int64_t>(content_.size() - at);
    // What is free counts its own head, too.
    const bool fits = index == 0 ? bytes >= static_cast<int64_t>(head_bytes) && bytes <= left
                                 : bytes >= 0 && bytes <= left - static_cast<int64_t>(head_bytes);
    if (!fits) {
      return corrupted("a global heap has an object that reaches outside of it");
    }
    const bool is_new = index == 0 || places_.emplace(index, std::pair(at + head_bytes, static_cast<size_t>(bytes))).second;
    const int64_t taken = index == 0 ? bytes : static_cast<int64_t>(head_bytes) + align_up(bytes, 8);
    if (!is_new || taken > left) {
      return corrupted("a global heap has an object twice, or one that reaches outside of it");
    }
    at += static_cast<size_t>(taken);
  }
  return Status();
}

Result<std::span<const std::byte>> HeapCollection::object(int64_t index) const {
  const auto place = places_.find(index);
  if (place == places_.end()) {
    return corrupted("a global heap lacks an object that is referred to");
  }
  return std::span<const std::byte>(content_).subspan(place->second.first, place->second.second);
}

Result<std::span<const std::byte>> HeapObjects::object(int64_t address, int64_t index) {
  if (address != address_) {
    address_ = -1;
    STRIA_ASSIGN_OR_RETURN(collection_, HeapCollection::read(source_, address));
    address_ = address;
  }
  return collection_.object(index);
}

}  // namespace stria::container::h5
