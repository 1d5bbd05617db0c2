#include "container/hdf5/read/stored/heap_places.hpp"

#include <vector>

#include "base/checked.hpp"
#include "container/corrupted.hpp"
#include "container/hdf5/read/stored/superblock.hpp"

namespace stria::container::h5 {

namespace {

// Lists don't share objects. Those that do may be several times the file, in a small one.
constexpr int64_t kTimesOfFile = 4;
constexpr int64_t kAlwaysBytes = 64 << 20;

}  // namespace

HeapPlaces::HeapPlaces(const MetadataSource& source)
    : source_(source), objects_(source), bytes_left_(kAlwaysBytes + kTimesOfFile * source.file.file_bytes()) {}

Status HeapPlaces::check(const StoredType& type, std::span<const std::byte> elements) {
  if (!type.has_heap_places()) {
    return Status();
  }
  const auto bytes = static_cast<size_t>(type.bytes);
  for (; elements.size() >= bytes; elements = elements.subspan(bytes)) {
    STRIA_RETURN_IF_ERROR(check_element(type, elements.first(bytes)));
  }
  return elements.empty() ? Status() : corrupted("an element is cut short");
}

Status HeapPlaces::check_element(const StoredType& type, std::span<const std::byte> element) {
  switch (type.type_class) {
    case StoredType::Class::kList:
      return check_list(type, element);
    case StoredType::Class::kReference:
      return type.is_region ? check_region(element) : Status();
    case StoredType::Class::kArray:
      return check(type.base[0], element);
    case StoredType::Class::kCompound:
      for (const StoredType::Member& member : type.members) {
        const auto part = element.subspan(static_cast<size_t>(member.offset), static_cast<size_t>(member.type.bytes));
        STRIA_RETURN_IF_ERROR(member.type.has_heap_places() ? check_element(member.type, part) : Status());
      }
      return Status();
    default:
      return Status();
  }
}

Status HeapPlaces::check_list(const StoredType& type, std::span<const std::byte> element) {
  Decoder decoder(element);
  const int64_t count = decoder.number(4);
  const int64_t address = decode_address(decoder, source_.address_bytes);
  const int64_t index = decoder.number(4);
  if (!decoder.well()) {
    return corrupted("a list of variable length is cut short");
  }
  if (address == 0) {
    return Status();  // an empty list, whatever its length
  }
  STRIA_ASSIGN_OR_RETURN(const auto object, objects_.object(address, index));
  const StoredType& base = type.base[0];
  int64_t bytes = 0;
  if (!checked_multiply(count, base.bytes, &bytes) || bytes != static_cast<int64_t>(object.size())) {
    return corrupted("a list of variable length has another length than its elements");
  }
  bytes_left_ -= bytes;
  if (bytes_left_ < 0) {
    return corrupted("lists of variable length are larger than the file");
  }
  if (!base.has_heap_places()) {
    return Status();
  }
  // The next object may take its place.
  const std::vector<std::byte> kept(object.begin(), object.end());
  return check(base, kept);
}

Status HeapPlaces::check_region(std::span<const std::byte> element) {
  Decoder decoder(element);
  const int64_t address = decode_address(decoder, source_.address_bytes);
  const int64_t index = decoder.number(4);
  if (!decoder.well()) {
    return corrupted("a reference to a region is cut short");
  }
  if (address == 0 || address == -1) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const auto object, objects_.object(address, index));
  return static_cast<int64_t>(object.size()) > source_.address_bytes ? Status()
                                                                     : corrupted("a reference to a region is cut short");
}

}  // namespace stria::container::h5
