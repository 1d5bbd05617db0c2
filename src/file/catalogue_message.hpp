// The catalogue of an existing file as rank 0 tells it to the others.
#pragma once

#include <span>
#include <vector>

#include "file/catalog.hpp"
#include "file/checksum_store.hpp"

namespace stria::file {

struct Catalogue {
  std::vector<DatasetEntry> datasets;
  ChecksumIndex checksums;
};

std::vector<std::byte> encode_catalogue(const Catalogue& catalogue);
Result<Catalogue> decode_catalogue(std::span<const std::byte> message);

/// The columns of a compound dataset. kInvalidArgument when it isn't one of numbers and strings.
Status list_columns(const container::DatasetSpec& spec, std::vector<Column>& columns);
std::vector<std::byte> encode_columns(const std::vector<Column>& columns);
/// \pre message is from encode_columns()
std::vector<Column> decode_columns(std::span<const std::byte> message);

}  // namespace stria::file
