// Looks at metadata before libhdf5 does.
//
// Problem: the structures of HDF5's first formats, which new files still have, keep no checksum:
// object headers of version 1, B-trees of version 1, nodes of symbols, local and global heaps.
// libhdf5 1.10 trusts them, so that one flipped bit makes it loop, recurse without end, or write
// outside of its memory.
// Method: all that libhdf5 reads passes the driver in file_driver.hpp. Where it reads the beginning
// of such a structure, the guard looks through all of it first, and the read fails if it makes no
// sense. What a structure names is noted: the nodes of a tree must have the level that their
// parent's says, so that no tree has a circle, and names must lie in the heap of their group.
// Nothing is read that nothing led to.
// Cost: each structure is looked through once, in the pages that StorageFile keeps anyway.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/read/stored/superblock.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

class MetadataGuard {
 public:
  /// Takes up what the superblock says. Where there is none that makes sense, or the storage fails,
  /// no metadata can be read; check() says why.
  explicit MetadataGuard(StorageFile& file);

  /// Tells whether libhdf5 may read so many bytes there. kCorrupted, or an error of the storage.
  Status check(H5FD_mem_t kind, int64_t offset, int64_t bytes);
  /// Returns where the file's metadata are.
  const MetadataSource& source() const { return source_; }

 private:
  /// Says what the addresses that a structure names are to be.
  enum class Use : uint8_t { kGroupTree, kSymbols, kChunkTree, kLocalHeap };
  struct Expected {
    Use use = Use::kGroupTree;
    int64_t level = -1;      // the level of a node; -1: of a root that was not read yet
    int64_t heap = -1;       // the heap of a group
    int64_t dimensions = 0;  // the dimensions of chunks, with that of the element
    bool operator==(const Expected&) const = default;
  };
  struct LocalHeap {
    int64_t address = -1;
    std::vector<std::byte> content;
  };

  Status begin();
  Status take_extension(int64_t address);
  Status look(H5FD_mem_t kind, int64_t address);
  Status look_at_header(int64_t address);
  Status look_at_layout(const HeaderMessage& message);
  Status look_at_mappings(int64_t address, int64_t index);
  Status look_at_external_files(const HeaderMessage& message);
  Status look_at_tree(int64_t address);
  Status look_at_group_node(const Expected& expected, Decoder& entries, int64_t count);
  Status look_at_chunk_node(const Expected& expected, Decoder& entries, int64_t count);
  Status look_at_symbols(int64_t address);
  Status look_at_symbol(Decoder& entry, int64_t heap);
  Status look_at_local_heap(int64_t address);
  Status look_at_collection(int64_t address);

  Status expect(int64_t address, const Expected& expected);
  Status expect_group(int64_t tree, int64_t heap);
  Result<Expected> expected_at(int64_t address, Use use) const;
  /// Tells whether there is a text at this offset of a local heap.
  Status check_text(int64_t heap, int64_t offset);
  Result<const LocalHeap*> heap_at(int64_t address);
  void note_block(ByteRange block) { blocks_[block.begin] = block.end; }

  MetadataSource source_;
  Superblock superblock_;
  Status begun_;
  std::unordered_map<int64_t, Expected> expected_;
  std::unordered_set<int64_t> sound_;  // the beginnings of structures that were looked through
  std::map<int64_t, int64_t> blocks_;  // what belongs to them: where in the file, up to where
  ByteRange last_;                     // what was read last
  LocalHeap heap_;                     // the one that was looked at last
};

}  // namespace stria::container::h5
