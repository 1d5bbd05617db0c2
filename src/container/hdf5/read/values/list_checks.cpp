#include "container/hdf5/read/values/list_checks.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "container/chunks/chunk_grid.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "container/corrupted.hpp"
#include "container/hdf5/read/chunks/chunk_layout.hpp"
#include "container/hdf5/read/chunks/stored_chunks.hpp"
#include "container/hdf5/read/driver/file_driver.hpp"
#include "container/hdf5/read/libhdf5/library_calls.hpp"
#include "container/hdf5/read/stored/heap_places.hpp"
#include "container/hdf5/read/stored/stored_attributes.hpp"
#include "container/hdf5/read/types/element_types.hpp"
#include "container/hdf5/read/types/spaces.hpp"

namespace stria::container::h5 {

namespace {

Status unknown(const std::string& what) {
  return Status(ErrorCode::kUnsupported, "its elements have variable length, and " + what);
}

/// Returns the address of an object's header, or of that of the object that has an attribute; -1:
/// unknown.
int64_t header_address(hid_t object) {
  const auto place = place_of(object);
  return place ? place->address : -1;
}

/// The stored elements of one dataset.
class StoredElements {
 public:
  StoredElements(hid_t dataset, const MetadataSource& source) : dataset_(dataset), source_(source), places_(source) {}
  Status check(std::span<const int64_t> dims, const Part& part);

 private:
  Status read_header();
  Status check_fill_value();
  Status check_pieces(std::span<const int64_t> dims, const Part& part);
  Status check_chunks(std::span<const int64_t> dims, const Part& part);
  Status check_chunk(const ChunkGrid& grid, const DatasetSpec& spec, const ChunkAsStored& stored);

  hid_t dataset_;
  const MetadataSource& source_;
  HeapPlaces places_;
  StoredType type_;
  StoredLayout layout_;
  ObjectMessages header_;
  FilterPipeline filters_;
};

Status StoredElements::read_header() {
  const int64_t address = header_address(dataset_);
  STRIA_ASSIGN_OR_RETURN(header_, read_object_header(source_, address));
  const auto find = [&](Message type) {
    return std::find_if(header_.messages.begin(), header_.messages.end(),
                        [&](const HeaderMessage& one) { return is(one, type); });
  };
  const auto type = find(Message::kDatatype);
  const auto layout = find(Message::kLayout);
  if (type == header_.messages.end() || layout == header_.messages.end()) {
    return corrupted("its header lacks its type or its layout");
  }
  STRIA_ASSIGN_OR_RETURN(type_, type_of(*type, source_));
  STRIA_ASSIGN_OR_RETURN(layout_, decode_layout(*layout, source_));
  return find(Message::kExternalFiles) == header_.messages.end() ? Status() : unknown("it lies in another file");
}

// What isn't stored reads as this.
Status StoredElements::check_fill_value() {
  for (const HeaderMessage& message : header_.messages) {
    if ((is(message, Message::kFillValue) || is(message, Message::kOldFillValue)) && (message.flags & kIsShared) == 0) {
      STRIA_ASSIGN_OR_RETURN(const auto value, stored_fill_value(message));
      STRIA_RETURN_IF_ERROR(places_.check(type_, value));
    }
  }
  return Status();
}

Status StoredElements::check(std::span<const int64_t> dims, const Part& part) {
  STRIA_RETURN_IF_ERROR(read_header());
  if (!type_.has_heap_places()) {
    return Status();
  }
  STRIA_RETURN_IF_ERROR(check_fill_value());
  switch (layout_.kind) {
    case StoredLayout::Kind::kVirtual:
      return unknown("it is virtual");
    case StoredLayout::Kind::kChunked:
      return check_chunks(dims, part);
    default:
      return check_pieces(dims, part);
  }
}

Status StoredElements::check_pieces(std::span<const int64_t> dims, const Part& part) {
  const bool is_compact = layout_.kind == StoredLayout::Kind::kCompact;
  if (!is_compact && layout_.address < 0) {
    return Status();  // not there yet
  }
  std::vector<std::byte> read;
  return for_each_run(dims, part, [&](int64_t element, int64_t count) -> Status {
    int64_t begin = 0;
    int64_t bytes = 0;
    if (!checked_multiply(element, type_.bytes, &begin) || !checked_multiply(count, type_.bytes, &bytes)) {
      return corrupted("it is cut short");
    }
    if (!is_compact) {
      int64_t address = 0;
      STRIA_ASSIGN_OR_RETURN(read, checked_add(layout_.address, begin, &address) ? read_bytes(source_, address, bytes)
                                                                                 : corrupted("it is cut short"));
      return places_.check(type_, read);
    }
    const auto size = static_cast<int64_t>(layout_.content.size());
    return begin <= size && bytes <= size - begin
               ? places_.check(type_, std::span<const std::byte>(layout_.content)
                                          .subspan(static_cast<size_t>(begin), static_cast<size_t>(bytes)))
               : corrupted("it is cut short");
  });
}

Status StoredElements::check_chunks(std::span<const int64_t> dims, const Part& part) {
  const Id creation(H5Dget_create_plist(dataset_));
  DatasetSpec spec;
  spec.element.kind = ElementSpec::Kind::kOther;
  spec.element.bytes = type_.bytes;
  spec.dims.assign(dims.begin(), dims.end());
  std::string names;
  bool is_known = false;
  STRIA_ASSIGN_OR_RETURN(spec.chunking, chunking_of(creation.get(), spec, &names, &is_known));
  if (!is_known || spec.chunking->filters.zfp() || spec.chunking->filters.scale_offset) {
    return unknown("its chunks pass filters that can't be looked behind (" + names + ")");
  }
  STRIA_RETURN_IF_ERROR(check_chunking(spec));
  const ChunkGrid grid(spec);
  return for_each_stored_chunk(dataset_, grid, part,
                               [&](const ChunkAsStored& stored) { return check_chunk(grid, spec, stored); });
}

Status StoredElements::check_chunk(const ChunkGrid& grid, const DatasetSpec& spec, const ChunkAsStored& stored) {
  std::vector<std::byte> chunk(static_cast<size_t>(grid.chunk_bytes()));
  STRIA_RETURN_IF_ERROR(filters_.decode(spec, stored.bytes, stored.skipped, chunk));
  Status status;
  grid.for_each_run(stored.number, [&](const ChunkGrid::Run& run) {
    status.update(places_.check(
        type_, std::span<const std::byte>(chunk).subspan(static_cast<size_t>(run.offset), static_cast<size_t>(run.bytes))));
  });
  return status;
}

}  // namespace

Status check_lists(hid_t dataset, std::span<const int64_t> start, std::span<const int64_t> count) {
  const Id type(H5Dget_type(dataset));
  const Id space(H5Dget_space(dataset));
  const MetadataSource* const source = source_of(dataset);
  if (!type.valid() || !space.valid() || source == nullptr) {
    return last_error(ErrorCode::kCorrupted, "its type or shape can't be read");
  }
  const Part part{start, count};
  if (!holds_pointers(type.get()) || part.is_empty()) {
    return Status();
  }
  STRIA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, dims_of(space.get()));
  return StoredElements(dataset, *source).check(dims, part);
}

Status check_lists(hid_t dataset) {
  const Id space(H5Dget_space(dataset));
  STRIA_ASSIGN_OR_RETURN(const std::vector<int64_t> dims, dims_of(space.get()));
  return check_lists(dataset, std::vector<int64_t>(dims.size(), 0), dims);
}

Status check_attribute_lists(hid_t attribute) {
  const Id type(H5Aget_type(attribute));
  const MetadataSource* const source = source_of(attribute);
  const ssize_t length = H5Aget_name(attribute, 0, nullptr);
  if (!type.valid() || source == nullptr || length < 0) {
    return last_error(ErrorCode::kCorrupted, "its type can't be read");
  }
  if (!holds_pointers(type.get())) {
    return Status();
  }
  std::string name(static_cast<size_t>(length), '\0');
  H5Aget_name(attribute, name.size() + 1, name.data());
  STRIA_ASSIGN_OR_RETURN(const StoredAttribute stored, read_stored_attribute(*source, header_address(attribute), name));
  return HeapPlaces(*source).check(stored.type, stored.value);
}

}  // namespace stria::container::h5
