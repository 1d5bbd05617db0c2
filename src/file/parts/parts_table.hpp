// Describes what a file says of its parts: the dataset ".stria/parts" (docs/formats/hdf5.md).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "container/container.hpp"
#include "file/define/catalog.hpp"
#include "storage/parted/part_map.hpp"

namespace stria::file {

inline constexpr const char* kPartsPath = ".stria/parts";

/// `paths`: of the dataset of each array. Parts are named by the last component of their path.
std::vector<std::byte> encode_parts(const storage::PartMap& map, std::span<const std::string> paths);

struct PartsTable {
  storage::PartMap map;
  std::vector<std::string> paths;  ///< the paths of the dataset of each array
};
/// The parts lie beside the file at `path`. kCorrupted or kFormat when the content is damaged or
/// makes no sense.
Result<PartsTable> decode_parts(std::span<const std::byte> content, const std::string& path);

/// Reads the table, if the file at `path` has one that counts, and gives the datasets of `catalog`
/// that lie in parts their places. Returns its content, which is empty where all data are in the
/// file itself.
Result<std::vector<std::byte>> read_parts(const container::Reader& reader, const std::string& path, Catalog& catalog);

/// Returns what a file, which lies at `path`, says of its parts; nothing where it has none. Local.
Result<std::optional<PartsTable>> find_parts(storage::File& file, const std::string& path);

}  // namespace stria::file
