#include "container/hdf5/read/driver/metadata_guard.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "container/corrupted.hpp"
#include "container/hdf5/form/format.hpp"
#include "container/hdf5/read/stored/decoder.hpp"
#include "container/hdf5/read/stored/global_heap.hpp"
#include "container/hdf5/read/stored/message_checks.hpp"

namespace stria::container::h5 {

namespace {

constexpr size_t kSignatureBytes = 4;

// These have checksums, or libhdf5 checks them by their signature and their header.
bool has_checksum(std::string_view signature) {
  constexpr std::string_view kSummed[] = {"FRHP", "FHIB", "FHDB", "BTHD", "BTIN", "BTLF", "FSHD", "FSSE", "SMTB",
                                          "SMLI", "EAHD", "EAIB", "EASB", "EADB", "FAHD", "FADB", "OCHK"};
  return std::find(std::begin(kSummed), std::end(kSummed), signature) != std::end(kSummed);
}

}  // namespace

MetadataGuard::MetadataGuard(StorageFile& file) : source_{.file = file} {
  begun_ = begin();
}

Status MetadataGuard::begin() {
  STRIA_ASSIGN_OR_RETURN(superblock_, read_superblock(source_.file));
  source_.base = superblock_.base;
  source_.address_bytes = superblock_.address_bytes;
  source_.length_bytes = superblock_.length_bytes;
  STRIA_RETURN_IF_ERROR(superblock_.extension >= 0 ? take_extension(superblock_.extension) : Status());
  return superblock_.root ? expect_group(superblock_.root->tree_address, superblock_.root->heap_address) : Status();
}

// A new file may have other sizes of nodes than the usual ones.
Status MetadataGuard::take_extension(int64_t address) {
  STRIA_ASSIGN_OR_RETURN(const ObjectMessages header, read_object_header(source_, address));
  for (const HeaderMessage& message : header.messages) {
    if (is(message, Message::kTreeSizes)) {
      superblock_.group_children_max = 2 * number_at(message, 3, 2);
      superblock_.symbols_max = 2 * number_at(message, 5, 2);
    }
  }
  return Status();
}

Status MetadataGuard::check(H5FD_mem_t kind, int64_t offset, int64_t bytes) {
  if (kind == H5FD_MEM_DRAW || kind == H5FD_MEM_SUPER) {
    return Status();
  }
  if (!begun_.ok()) {
    const bool was_read = begun_.code() == ErrorCode::kCorrupted || begun_.code() == ErrorCode::kFormat;
    return was_read ? corrupted("its superblock makes no sense") : begun_;
  }
  // libhdf5 may read the rest of a structure by itself.
  const auto block = blocks_.upper_bound(offset);
  const bool goes_on =
      offset == last_.end && block != blocks_.begin() && std::prev(block)->second > offset && std::prev(block)->first < offset;
  const bool is_known = goes_on || (blocks_.contains(offset) && !sound_.contains(offset - source_.base));
  STRIA_RETURN_IF_ERROR(is_known ? Status() : look(kind, offset - source_.base));
  last_ = {offset, offset + bytes};
  return Status();
}

Status MetadataGuard::look(H5FD_mem_t kind, int64_t address) {
  if (sound_.contains(address)) {
    return Status();
  }
  std::array<std::byte, kSignatureBytes> bytes{};
  const int64_t there = std::min<int64_t>(kSignatureBytes, source_.file.file_bytes() - source_.base - address);
  if (address < 0 || there < 1) {
    return corrupted("an address lies outside of the file");
  }
  STRIA_RETURN_IF_ERROR(source_.file.read(H5FD_MEM_OHDR, source_.base + address, there, bytes.data()));
  const std::string_view signature(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Status status;
  if (signature == "TREE") {
    status = look_at_tree(address);
  } else if (signature == "SNOD") {
    status = look_at_symbols(address);
  } else if (signature == "HEAP") {
    status = look_at_local_heap(address);
  } else if (signature == "GCOL") {
    status = look_at_collection(address);
  } else if (signature == "OHDR" || (kind == H5FD_MEM_OHDR && !has_checksum(signature))) {
    status = look_at_header(address);
  } else {
    return Status();
  }
  if (status.ok()) {
    sound_.insert(address);
  }
  return status;
}

Status MetadataGuard::look_at_header(int64_t address) {
  STRIA_ASSIGN_OR_RETURN(const ObjectMessages header, read_object_header(source_, address));
  STRIA_RETURN_IF_ERROR(check_messages(header, source_));
  for (const HeaderMessage& message : header.messages) {
    if ((message.flags & kIsShared) != 0) {
      continue;
    }
    if (is(message, Message::kSymbolTable)) {
      Decoder decoder(message.content);
      const int64_t tree = decode_address(decoder, source_.address_bytes);
      STRIA_RETURN_IF_ERROR(expect_group(tree, decode_address(decoder, source_.address_bytes)));
    } else if (is(message, Message::kLayout)) {
      STRIA_RETURN_IF_ERROR(look_at_layout(message));
    } else if (is(message, Message::kExternalFiles)) {
      STRIA_RETURN_IF_ERROR(look_at_external_files(message));
    }
  }
  for (const ByteRange& block : header.blocks) {
    note_block(block);
  }
  return Status();
}

Status MetadataGuard::look_at_layout(const HeaderMessage& message) {
  const auto layout = decode_layout(message, source_);
  if (!layout.ok()) {
    return Status();  // It comes from a newer release.
  }
  if (layout->kind == StoredLayout::Kind::kVirtual && layout->address >= 0) {
    return look_at_mappings(layout->address, layout->heap_index);
  }
  return layout->kind == StoredLayout::Kind::kChunked && layout->has_old_tree
             ? expect(layout->address, {.use = Use::kChunkTree, .dimensions = static_cast<int64_t>(layout->lengths.size())})
             : Status();
}

// libhdf5 decodes them before it compares their checksum, which is behind them.
Status MetadataGuard::look_at_mappings(int64_t address, int64_t index) {
  constexpr size_t kSumBytes = 4;
  HeapObjects objects(source_);
  STRIA_ASSIGN_OR_RETURN(const auto mappings, objects.object(address, index));
  if (mappings.size() <= kSumBytes) {
    return corrupted("the mappings of virtual data are cut short");
  }
  const auto summed = mappings.first(mappings.size() - kSumBytes);
  const bool is_right = Decoder(mappings.last(kSumBytes)).number(kSumBytes) == int64_t{lookup3(summed)};
  return is_right ? Status() : corrupted("the mappings of virtual data don't match their checksum");
}

// The names of files with raw data lie in a local heap.
Status MetadataGuard::look_at_external_files(const HeaderMessage& message) {
  Decoder decoder(message.content);
  const bool is_known = decoder.number(1) == 1;
  decoder.take(3);
  const int64_t room = decoder.number(2);
  const int64_t count = decoder.number(2);
  const int64_t heap = decode_address(decoder, source_.address_bytes);
  if (!is_known || count > room) {
    return corrupted("a list of external files makes no sense");
  }
  STRIA_RETURN_IF_ERROR(expect(heap, {.use = Use::kLocalHeap}));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t name = decoder.number(static_cast<size_t>(source_.length_bytes));
    decoder.take(static_cast<size_t>(2 * source_.length_bytes));
    STRIA_RETURN_IF_ERROR(check_text(heap, name));
  }
  return decoder.well() ? Status() : corrupted("a list of external files is cut short");
}

Status MetadataGuard::expect_group(int64_t tree, int64_t heap) {
  STRIA_RETURN_IF_ERROR(expect(heap, {.use = Use::kLocalHeap}));
  return expect(tree, {.use = Use::kGroupTree, .heap = heap});
}

Status MetadataGuard::expect(int64_t address, const Expected& expected) {
  if (address == -1) {
    return Status();
  }
  const auto [known, is_new] = expected_.emplace(address, expected);
  if (is_new || known->second == expected) {
    return Status();
  }
  // The level of a root shows when it is read; that of other nodes is said by their parents.
  Expected& there = known->second;
  Expected merged = there.level < 0 ? expected : there;
  const bool agree = there.use == expected.use && there.heap == expected.heap && there.dimensions == expected.dimensions &&
                     (there.level < 0 || expected.level < 0);
  if (!agree) {
    return corrupted("one place is named as different things");
  }
  there = merged;
  return Status();
}

Result<MetadataGuard::Expected> MetadataGuard::expected_at(int64_t address, Use use) const {
  const auto found = expected_.find(address);
  return found != expected_.end() && found->second.use == use
             ? Result<Expected>(found->second)
             : Status(ErrorCode::kCorrupted, "something is read to which nothing of its kind leads");
}

Status MetadataGuard::look_at_tree(int64_t address) {
  const int64_t head_bytes = 8 + 2 * source_.address_bytes;
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source_, address, head_bytes));
  Decoder decoder(head);
  decoder.take(kSignatureBytes);
  const int64_t type = decoder.number(1);
  const int64_t level = decoder.number(1);
  const int64_t count = decoder.number(2);
  if (type > 1) {
    return corrupted("a B-tree of an unknown type");
  }
  STRIA_ASSIGN_OR_RETURN(Expected expected, expected_at(address, type == 0 ? Use::kGroupTree : Use::kChunkTree));
  if (expected.level >= 0 && expected.level != level) {
    return corrupted("a node of a B-tree has another level than its parent says");
  }
  expected.level = level;
  expected_[address] = expected;
  const int64_t key_bytes = type == 0 ? source_.length_bytes : 8 + 8 * expected.dimensions;
  STRIA_ASSIGN_OR_RETURN(const auto content,
                         read_bytes(source_, address + head_bytes, count * (key_bytes + source_.address_bytes) + key_bytes));
  Decoder entries(content);
  return type == 0 ? look_at_group_node(expected, entries, count) : look_at_chunk_node(expected, entries, count);
}

Status MetadataGuard::look_at_group_node(const Expected& expected, Decoder& entries, int64_t count) {
  if (count > superblock_.group_children_max) {
    return corrupted("a node of a group's B-tree has too many children");
  }
  for (int64_t i = 0; i < count; ++i) {
    STRIA_RETURN_IF_ERROR(check_text(expected.heap, entries.number(static_cast<size_t>(source_.length_bytes))));
    const int64_t child = decode_address(entries, source_.address_bytes);
    const Expected below = expected.level > 0
                               ? Expected{.use = Use::kGroupTree, .level = expected.level - 1, .heap = expected.heap}
                               : Expected{.use = Use::kSymbols, .heap = expected.heap};
    STRIA_RETURN_IF_ERROR(child >= 0 ? expect(child, below) : corrupted("a group's B-tree leads nowhere"));
  }
  return check_text(expected.heap, entries.number(static_cast<size_t>(source_.length_bytes)));
}

Status MetadataGuard::look_at_chunk_node(const Expected& expected, Decoder& entries, int64_t count) {
  const int64_t end = source_.file.file_bytes() - source_.base;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bytes = entries.number(4);
    entries.take(static_cast<size_t>(4 + 8 * expected.dimensions));
    const int64_t child = decode_address(entries, source_.address_bytes);
    if (child < 0 || child > end || (expected.level == 0 && bytes > end - child)) {
      return corrupted("a chunk lies outside of the file");
    }
    if (expected.level > 0) {
      STRIA_RETURN_IF_ERROR(
          expect(child, {.use = Use::kChunkTree, .level = expected.level - 1, .dimensions = expected.dimensions}));
    }
  }
  return Status();
}

Status MetadataGuard::look_at_symbols(int64_t address) {
  STRIA_ASSIGN_OR_RETURN(const Expected expected, expected_at(address, Use::kSymbols));
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source_, address, 8));
  Decoder decoder(head);
  decoder.take(kSignatureBytes + 2);
  const int64_t count = decoder.number(2);
  if (count > superblock_.symbols_max) {
    return corrupted("a node of a group has too many names");
  }
  const int64_t entry_bytes = source_.length_bytes + source_.address_bytes + 24;
  STRIA_ASSIGN_OR_RETURN(const auto content, read_bytes(source_, address + 8, count * entry_bytes));
  for (int64_t i = 0; i < count; ++i) {
    Decoder entry(std::span<const std::byte>(content).subspan(static_cast<size_t>(i * entry_bytes)));
    STRIA_RETURN_IF_ERROR(look_at_symbol(entry, expected.heap));
  }
  return Status();
}

Status MetadataGuard::look_at_symbol(Decoder& entry, int64_t heap) {
  constexpr int64_t kNothing = 0, kGroup = 1, kSoftLink = 2;
  STRIA_RETURN_IF_ERROR(check_text(heap, entry.number(static_cast<size_t>(source_.length_bytes))));
  entry.take(static_cast<size_t>(source_.address_bytes));
  const int64_t cached = entry.number(4);
  entry.take(4);
  switch (cached) {
    case kNothing:
      return Status();
    case kGroup: {
      const int64_t tree = decode_address(entry, source_.address_bytes);
      return expect_group(tree, decode_address(entry, source_.address_bytes));
    }
    case kSoftLink:
      return check_text(heap, entry.number(4));
    default:
      return corrupted("an entry of a group of an unknown kind");
  }
}

Status MetadataGuard::look_at_local_heap(int64_t address) {
  STRIA_RETURN_IF_ERROR(expected_at(address, Use::kLocalHeap).status());
  return heap_at(address).status();
}

Result<const MetadataGuard::LocalHeap*> MetadataGuard::heap_at(int64_t address) {
  constexpr int64_t kNoneFree = 1;
  if (heap_.address == address) {
    return &heap_;
  }
  heap_.address = -1;
  const auto length_bytes = static_cast<size_t>(source_.length_bytes);
  STRIA_ASSIGN_OR_RETURN(const auto head, read_bytes(source_, address, 8 + 2 * source_.length_bytes + source_.address_bytes));
  Decoder decoder(head);
  const bool is_known = decoder.is("HEAP") && decoder.number(1) == 0;
  decoder.take(3);
  const int64_t bytes = decoder.number(length_bytes);
  int64_t free = decoder.number(length_bytes);
  const int64_t data = decode_address(decoder, source_.address_bytes);
  if (!is_known) {
    return corrupted("a local heap is damaged");
  }
  STRIA_ASSIGN_OR_RETURN(heap_.content, read_bytes(source_, data, bytes));
  // Free stretches are a list. One that is longer than the heap has a circle.
  const int64_t free_head_bytes = 2 * source_.length_bytes;
  for (int64_t seen_bytes = 0; free != kNoneFree; seen_bytes += free_head_bytes) {
    if (free < 0 || free > bytes - free_head_bytes || seen_bytes > bytes) {
      return corrupted("a local heap's list of what is free is damaged");
    }
    Decoder stretch(std::span<const std::byte>(heap_.content).subspan(static_cast<size_t>(free)));
    const int64_t next = stretch.number(length_bytes);
    const int64_t free_bytes = stretch.number(length_bytes);
    if (free_bytes < free_head_bytes || free_bytes > bytes - free) {
      return corrupted("a local heap's list of what is free is damaged");
    }
    free = next;
  }
  heap_.address = address;
  note_block({source_.base + data, source_.base + data + bytes});
  note_block({source_.base + address, source_.base + address + static_cast<int64_t>(head.size())});
  return &heap_;
}

Status MetadataGuard::check_text(int64_t heap, int64_t offset) {
  STRIA_ASSIGN_OR_RETURN(const LocalHeap* const found, heap_at(heap));
  const std::vector<std::byte>& content = found->content;
  const bool has_end = offset >= 0 && offset < static_cast<int64_t>(content.size()) &&
                       std::find(content.begin() + offset, content.end(), std::byte{0}) != content.end();
  return has_end ? Status() : corrupted("a name lies outside of its group's heap");
}

Status MetadataGuard::look_at_collection(int64_t address) {
  STRIA_ASSIGN_OR_RETURN(const HeapCollection collection, HeapCollection::read(source_, address));
  note_block({source_.base + address, source_.base + address + collection.bytes()});
  return Status();
}

}  // namespace stria::container::h5
