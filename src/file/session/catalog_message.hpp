// The catalog of an existing file: as its reader gives it, and in the form in which rank 0 sends it
// to the others.
#pragma once

#include <span>
#include <vector>

#include "file/checksums/checksum_index.hpp"
#include "file/define/attribute_values.hpp"
#include "file/define/catalog.hpp"
#include "stria/file.hpp"

namespace stria::file {

/// Returns what a file says of one dataset.
Result<DatasetEntry> read_entry(const container::Reader& reader, const std::string& path);
/// Reads all datasets of a file.
Result<Catalog> read_catalog(const container::Reader& reader);
/// Makes each dataset go by that of its paths by which its sums know it.
void go_by_summed_paths(const ChecksumIndex& checksums, Catalog& catalog);
/// Tells the datasets of their rows' sums. kFormat where both don't fit.
Status attach_row_sums(const ChecksumIndex& checksums, Catalog& catalog);

struct CatalogMessage {
  Format format = Format::kHdf5;
  Catalog datasets;
  ChecksumIndex checksums;
  std::span<const std::byte> parts;  ///< what decode_parts() takes; they stay in the message
};

/// `parts`: the content of the table of parts; empty where there are none.
std::vector<std::byte> encode_catalog(Format format, const Catalog& datasets, const ChecksumIndex& checksums,
                                      std::span<const std::byte> parts);
Result<CatalogMessage> decode_catalog(std::span<const std::byte> message);

/// Encodes an attribute's element, without members, its shape and value.
std::vector<std::byte> encode_attribute(const container::AttributeSpec& attribute);
/// Reads a message of encode_attribute().
container::AttributeSpec decode_attribute(std::span<const std::byte> message);
std::vector<std::byte> encode_attribute_list(const std::vector<AttributeInfo>& attributes);
/// Reads a message of encode_attribute_list().
std::vector<AttributeInfo> decode_attribute_list(std::span<const std::byte> message);

}  // namespace stria::file
