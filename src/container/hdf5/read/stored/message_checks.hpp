// Finds out whether libhdf5 may decode the messages of an object header (format specification
// IV.A.2).
//
// Problem: headers of old files have no checksums, and libhdf5 1.10 takes their messages for what
// they say: it reads past them, divides by a length of 0, and allocates what they ask for.
// Method: each message that it decodes is gone through here, every length compared with what is
// there. Messages of versions and types that aren't known here are left to libhdf5, which refuses
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "container/hdf5/form/object_messages.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "container/hdf5/read/stored/stored_type.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// A dataspace message.
struct StoredSpace {
  std::vector<int64_t> dims{};
  bool is_null = false;
  /// -1 where it doesn't fit into 63 bits.
  int64_t element_count() const;
};
/// kUnsupported where it is of an unknown version.
Result<StoredSpace> decode_space(Decoder& decoder, int64_t length_bytes);

/// Says where raw data lie, or what leads to them.
struct StoredLayout {
  enum class Kind : uint8_t { kCompact, kContiguous, kChunked, kVirtual };
  Kind kind = Kind::kContiguous;
  int64_t address = -1;              ///< where the data, the index of chunks, or a global heap are
  int64_t heap_index = 0;            ///< the index of virtual data
  bool has_old_tree = false;         ///< chunks are found by a B-tree of version 1
  std::vector<int64_t> lengths{};    ///< the lengths of a chunk, and last of an element
  std::vector<std::byte> content{};  ///< compact data
};
Result<StoredLayout> decode_layout(const HeaderMessage& message, const MetadataSource& source);

/// Returns the value in a fill value message; empty where it has none.
Result<std::vector<std::byte>> stored_fill_value(const HeaderMessage& message);

/// An attribute message.
struct StoredAttribute {
  std::string name;
  StoredType type;
  StoredSpace space;
  std::vector<std::byte> value;
};
/// Reads the header of its type where that is one with a name of its own.
Result<StoredAttribute> decode_attribute(const HeaderMessage& message, const MetadataSource& source);

/// Returns the type that a message says, wherever it is.
Result<StoredType> type_of(const HeaderMessage& message, const MetadataSource& source);
/// Returns where a message that is shared lies; nothing for one in a heap of shared messages.
std::optional<int64_t> shared_address(const HeaderMessage& message, int64_t address_bytes);

/// kCorrupted when libhdf5 must not see the header.
Status check_messages(const ObjectMessages& header, const MetadataSource& source);

}  // namespace stria::container::h5
