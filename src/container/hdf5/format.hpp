// The bytes of an HDF5 file's metadata, as far as a writer of new files needs them: format of release 1.8.
//
// Source: "HDF5 File Format Specification Version 3.0", The HDF Group; sections are named beside each structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stria::container::h5 {

/// "Undefined address" of the specification.
inline constexpr int64_t kNowhere = -1;

/// Little-endian numbers and text, one behind the other.
class Encoder {
 public:
  /// `expected_bytes`: what is worth to be set aside at once.
  explicit Encoder(size_t expected_bytes = 64) { bytes_.reserve(expected_bytes); }

  /// The low `count` bytes, at most 8, of a number; -1 gives all ones.
  Encoder& number(int64_t value, size_t count);
  Encoder& bytes(std::span<const std::byte> value);
  /// Without a terminator.
  Encoder& text(std::string_view value) { return bytes(std::as_bytes(std::span(value.data(), value.size()))); }
  Encoder& zeros(size_t count);
  /// The checksum of everything since `begin`.
  Encoder& checksum(size_t begin = 0);
  size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& view() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Bob Jenkins' lookup3 (hashlittle, 2006), with which all metadata of the format are summed.
uint32_t lookup3(std::span<const std::byte> key);

inline constexpr int64_t kSuperblockBytes = 48;
/// Superblock, version 2 (II.A): no extension, not marked as open.
std::vector<std::byte> superblock(int64_t file_bytes, int64_t root_address);

/// Messages of an object header (IV.A.2), by their type.
enum class Message : uint8_t {
  kDataspace = 0x01,
  kLinkInfo = 0x02,
  kDatatype = 0x03,
  kFillValue = 0x05,
  kLink = 0x06,
  kLayout = 0x08,
  kGroupInfo = 0x0a,
  kAttribute = 0x0c,
  kSymbolTable = 0x11,
  kAttributeInfo = 0x15,
};
/// What fits into one.
inline constexpr size_t kMessageBytesMax = 65535;

/// An object header, version 2 (IV.A.1.b), in one piece; no times, the order in which attributes were made isn't kept.
class ObjectHeader {
 public:
  /// \pre payload.size() <= kMessageBytesMax
  void add(Message type, std::span<const std::byte> payload);
  /// `compact_attributes_max`: how many attributes other programs may have it hold before they make a B-tree of them.
  std::vector<std::byte> finish(int64_t compact_attributes_max) const;

 private:
  Encoder messages_{512};
};

/// Dataspace message, version 2 (IV.A.2.b): simple, of fixed size, or a scalar without dimensions.
std::vector<std::byte> dataspace(std::span<const int64_t> dims);
/// Fill value message, version 3 (IV.A.2.f): allocated at once, never filled.
std::vector<std::byte> no_fill_value();
/// Data layout message, version 3 (IV.A.2.i): contiguous.
std::vector<std::byte> contiguous_layout(int64_t address, int64_t bytes);
/// Link info and attribute info message (IV.A.2.c, IV.A.2.v): the header itself has the links or attributes.
std::vector<std::byte> no_index();
/// Attribute message, version 3 (IV.A.2.m).
std::vector<std::byte> attribute(std::string_view name, std::span<const std::byte> datatype,
                                 std::span<const std::byte> dataspace, std::span<const std::byte> value);
/// Group info message (IV.A.2.k): how many links other programs may have the header hold before they make a B-tree of them.
std::vector<std::byte> group_info(int64_t compact_links_max);
/// Link message (IV.A.2.g): a hard link.
std::vector<std::byte> link(std::string_view name, int64_t header_address);
/// Symbol table message (IV.A.2.r).
std::vector<std::byte> symbol_table(int64_t tree_address, int64_t heap_address);

}  // namespace stria::container::h5
