#include "file/write/checksum_tables.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "file/checksums/checksum_index.hpp"
#include "file/checksums/seal.hpp"
#include "file/define/names.hpp"

namespace stria::file {

namespace {

std::string own_path(const char* name) {
  return std::string(kOwnGroup) + "/" + name;
}

// The datasets in the order of their numbers: those with raw data, the tables, and last the two
// that are made here and the seal.
std::vector<std::string> paths_by_number(const Catalog& catalog, const Definitions& definitions) {
  std::vector<std::string> paths;
  for (const DatasetEntry& dataset : catalog.datasets()) {
    paths.push_back(dataset.spec.path);
  }
  for (const Definitions::Table& table : definitions.tables()) {
    paths.push_back(table.spec.path);
  }
  paths.insert(paths.end(), {own_path("datasets"), own_path("placement"), kSealPath});
  return paths;
}

Status define_names(const std::vector<std::string>& paths, Definitions& definitions) {
  size_t longest = 1;
  for (const std::string& path : paths) {
    longest = std::max(longest, path.size());
  }
  container::DatasetSpec names;
  names.path = own_path("datasets");
  // Names may end in blanks.
  names.element = container::ElementSpec::of_string(static_cast<int64_t>(longest), false);
  names.dims = {static_cast<int64_t>(paths.size())};
  std::vector<std::byte> bytes(longest * paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    std::memcpy(bytes.data() + i * longest, paths[i].data(), paths[i].size());
  }
  return definitions.add_table(std::move(names), bytes);
}

Status define_placement(size_t path_count, const Catalog& catalog, Definitions& definitions) {
  std::vector<int64_t> places;
  for (const DatasetEntry& dataset : catalog.datasets()) {
    const bool by_rows = dataset.checksum_group >= 0;
    places.push_back(by_rows ? dataset.checksum_group : -1);
    places.push_back(by_rows ? dataset.checksum_column : -1);
  }
  places.resize(2 * path_count, -1);
  container::DatasetSpec placement;
  placement.path = own_path("placement");
  placement.element = container::ElementSpec::of_number(ElementType::kInt64);
  placement.dims = {static_cast<int64_t>(path_count), 2};
  return definitions.add_table(std::move(placement), std::as_bytes(std::span(places)));
}

}  // namespace

Result<std::vector<RowTable>> define_checksum_tables(Catalog& catalog, container::Layout& layout, Definitions& definitions) {
  std::vector<RowTable> tables = place_row_sums(catalog.datasets());
  for (size_t i = 0; i < tables.size(); ++i) {
    STRIA_ASSIGN_OR_RETURN(tables[i].data_offset, layout.place(tables[i].spec(i)));
  }
  const std::vector<std::string> paths = paths_by_number(catalog, definitions);
  STRIA_RETURN_IF_ERROR(define_names(paths, definitions));
  STRIA_RETURN_IF_ERROR(define_placement(paths.size(), catalog, definitions));
  return tables;
}

void add_table_sums(const Catalog& catalog, const Definitions& definitions, std::vector<std::byte>& records) {
  int number = catalog.size();
  for (const Definitions::Table& table : definitions.tables()) {
    if (!table.content.empty()) {
      const auto bytes = static_cast<int64_t>(table.content.size());
      encode_slab_sum({.dataset = number, .displacement = 0, .region = Datatype::bytes(bytes), .sum = sum_of(table.content)},
                      records);
    }
    ++number;
  }
}

}  // namespace stria::file
