// The bytes of an HDF5 file's metadata, as far as a writer of new files needs them, in the format
// of release 1.8.
//
// Source: "HDF5 File Format Specification Version 3.0", The HDF Group. The comments
// name its sections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "container/hdf5/form/object_messages.hpp"

namespace stria::container::h5 {

/// "Undefined address" of the specification.
inline constexpr int64_t kNowhere = -1;

/// The first bytes of a file.
inline constexpr std::string_view kSignature = "\211HDF\r\n\032\n";

/// Writes little-endian numbers and text, one behind another.
class Encoder {
 public:
  /// `expected_bytes` is reserved at once.
  explicit Encoder(size_t expected_bytes = 64) { bytes_.reserve(expected_bytes); }

  /// Appends the low `count` bytes of a number, at most 8; -1 gives all ones.
  Encoder& number(int64_t value, size_t count);
  Encoder& bytes(std::span<const std::byte> value);
  /// Appends text without a terminator.
  Encoder& text(std::string_view value) { return bytes(std::as_bytes(std::span(value.data(), value.size()))); }
  Encoder& zeros(size_t count);
  /// Appends the checksum of everything so far.
  Encoder& checksum();
  /// Overwrites a number that is there.
  void overwrite(size_t at, int64_t value, size_t count);
  size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& view() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Character sets of names and strings. A name or string without a byte beyond ASCII is
/// declared as ASCII.
inline constexpr int64_t kAscii = 0;
inline constexpr int64_t kUtf8 = 1;
bool is_ascii(std::span<const std::byte> text);

/// Computes Bob Jenkins' lookup3 (hashlittle, 2006), the checksum of all metadata in this format.
uint32_t lookup3(std::span<const std::byte> key);

/// Makes a superblock, version 2 (II.A): no extension, not marked as open.
std::vector<std::byte> superblock(int64_t file_bytes, int64_t root_address);

/// The most that fits into one message.
inline constexpr size_t kMessageBytesMax = 65535;

/// An object header, version 2 (IV.A.1.b), in one piece. It has no times.
class ObjectHeader {
 public:
  /// `keeps_order`: of attributes, that in which they come.
  explicit ObjectHeader(bool keeps_order = false) : keeps_order_(keeps_order) {}
  /// Begins a message. Put its content, at most kMessageBytesMax, into the encoder,
  /// then call end().
  Encoder& begin(Message type);
  void end();
  /// Adds a message as another header has it.
  void copy(const HeaderMessage& message);
  /// Returns where in the header's messages the next byte goes; for set_address().
  size_t position() const { return messages_.size(); }
  /// Overwrites an address that the messages have.
  void set_address(size_t position, int64_t address) { messages_.overwrite(position, address, sizeof address); }
  /// Returns the whole header. It doesn't say from how many attributes on other programs make a
  /// B-tree of them, because not every reader knows such headers.
  std::vector<std::byte> finish() const;

 private:
  void put_head(int64_t type, size_t bytes, int64_t flags);

  Encoder messages_{1024};
  bool keeps_order_;
  int64_t attributes_ = 0;
  size_t head_ = 0;   // the head of the message that was begun
  size_t begun_ = 0;  // its content
};

/// Writes a dataspace message, version 2 (IV.A.2.b): simple, or a scalar without dimensions. Of
/// fixed size unless the first dimension is `extendable`.
void put_dataspace(Encoder& to, std::span<const int64_t> dims, bool extendable = false);
/// When the place of a dataset's elements is made.
enum class Allocation : uint8_t { kAtOnce = 1, kLate = 2, kByChunk = 3 };
/// Writes a fill value message, version 3 (IV.A.2.f): `value` is one element, empty for zeros. Who
/// makes the place at once has also filled it.
void put_fill_value(Encoder& to, Allocation allocation, std::span<const std::byte> value = {});
/// Writes a data layout message, version 3 (IV.A.2.i): contiguous.
void put_contiguous_layout(Encoder& to, int64_t address, int64_t bytes);
/// Writes a link info or attribute info message (IV.A.2.c, IV.A.2.v): the links or attributes are
/// in the header itself.
void put_no_index(Encoder& to);
/// The same, and the order is kept in which `count` of them were made.
void put_links_in_order(Encoder& to, int64_t count);
void put_attributes_in_order(Encoder& to, int64_t count);
/// Writes the beginning of an attribute message, version 3 (IV.A.2.m); its datatype, dataspace and
/// value follow.
void put_attribute_head(Encoder& to, std::string_view name, size_t datatype_bytes, size_t dataspace_bytes);
/// Writes a group info message (IV.A.2.k), empty: other programs decide for themselves from how
/// many links on they make a B-tree.
void put_group_info(Encoder& to);
/// Says how many links were made in the group before this one, where it keeps their order.
using LinkOrder = std::optional<int64_t>;
/// Writes a link message (IV.A.2.g): a hard link.
void put_link(Encoder& to, std::string_view name, int64_t header_address, LinkOrder order = {});
/// Puts a soft link, or an external one where `file` isn't empty.
void put_other_link(Encoder& to, std::string_view name, std::string_view target, std::string_view file, LinkOrder order = {});
/// Writes a symbol table message (IV.A.2.r).
void put_symbol_table(Encoder& to, int64_t tree_address, int64_t heap_address);

}  // namespace stria::container::h5
