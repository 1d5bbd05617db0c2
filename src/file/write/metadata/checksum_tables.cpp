#include "file/write/metadata/checksum_tables.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "base/united_ranges.hpp"
#include "file/checksums/changes.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/checksums/seal.hpp"
#include "file/define/hidden_table.hpp"
#include "file/define/names.hpp"

namespace stria::file {

namespace {

// Returns the datasets in the order of their numbers: those that the file had, those with raw data,
// the tables, and last the two that are made here and the seal.
std::vector<std::string> paths_by_number(const Catalog& catalog, const OldContent& old, const Definitions& definitions) {
  const auto kept = static_cast<std::ptrdiff_t>(old.kept_path_count());
  std::vector<std::string> paths(old.checksums.paths.begin(), old.checksums.paths.begin() + kept);
  for (const DatasetEntry& dataset : catalog.datasets()) {
    if (!dataset.is_old) {
      paths.push_back(dataset.spec.path);
    }
  }
  for (const Definitions::Table& table : definitions.tables()) {
    paths.push_back(table.spec.path);
  }
  paths.insert(paths.end(), {own_path("datasets"), own_path("placement"), kSealPath});
  return paths;
}

Status define_names(const Definitions::Target& target, const std::vector<std::string>& paths, Definitions& definitions) {
  size_t longest = 1;
  for (const std::string& path : paths) {
    longest = std::max(longest, path.size());
  }
  // Names may end in blanks.
  const auto element = container::ElementSpec::of_string(static_cast<int64_t>(longest), false);
  std::vector<std::byte> bytes(longest * paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    std::memcpy(bytes.data() + i * longest, paths[i].data(), paths[i].size());
  }
  return definitions.add_table(target, hidden_table(own_path("datasets"), element, {static_cast<int64_t>(paths.size())}),
                               bytes);
}

Status define_placement(const Definitions::Target& target, size_t path_count, const OldContent& old, Definitions& definitions) {
  const auto first_table = static_cast<int64_t>(old.checksums.tables.size());
  std::vector<int64_t> places;
  for (size_t i = 0; i < old.kept_path_count(); ++i) {
    places.push_back(old.checksums.placement[i].first);
    places.push_back(old.checksums.placement[i].second);
  }
  for (const DatasetEntry& dataset : target.catalog.datasets()) {
    if (dataset.is_old) {
      continue;
    }
    const bool by_rows = dataset.checksum_group >= 0;
    places.push_back(by_rows ? first_table + dataset.checksum_group : -1);
    places.push_back(by_rows ? dataset.checksum_column : -1);
  }
  places.resize(2 * path_count, -1);
  return definitions.add_table(target,
                               hidden_table(own_path("placement"), container::ElementSpec::of_number(ElementType::kInt64),
                                            {static_cast<int64_t>(path_count), 2}),
                               std::as_bytes(std::span(places)));
}

// All of it has new records, as it then is in the file.
bool is_summed_again(const Catalog& catalog, const std::string& path) {
  const auto dataset = catalog.find(path);
  return dataset && catalog[*dataset].is_updated;
}

// Rows that another program has added get records without a sum, so that nobody takes them for rows
// that were never put.
void add_rows_of_others(const Catalog& catalog, const OldContent& old, std::vector<std::byte>& records) {
  if (!old.checksums.is_changed) {
    return;
  }
  for (const RowsWithoutSums& rows : rows_without_sums(old.checksums, old.catalog)) {
    if (is_summed_again(catalog, old.catalog[rows.dataset].spec.path)) {
      continue;
    }
    const DatasetEntry& entry = old.catalog[rows.dataset];
    const int64_t begin = rows.first_row * entry.row_bytes();
    const Datatype region = Datatype::bytes(entry.data_bytes() - begin);
    encode_slab_sum({.dataset = rows.listed, .displacement = begin, .region = region, .sum = kNoSum}, records);
  }
}

}  // namespace

Result<std::vector<RowTable>> define_checksum_tables(const Definitions::Target& target, const OldContent& old,
                                                     Definitions& definitions) {
  std::vector<RowTable> tables = place_row_sums(target.catalog.datasets());
  for (size_t i = 0; i < tables.size(); ++i) {
    STRIA_ASSIGN_OR_RETURN(tables[i].data_offset, target.layout.place(tables[i].spec(old.checksums.tables.size() + i)));
  }
  const std::vector<std::string> paths = paths_by_number(target.catalog, old, definitions);
  STRIA_RETURN_IF_ERROR(define_names(target, paths, definitions));
  STRIA_RETURN_IF_ERROR(define_placement(target, paths.size(), old, definitions));
  return tables;
}

void add_table_sums(const Catalog& catalog, const Definitions& definitions, std::vector<std::byte>& records) {
  int number = catalog.size();
  for (const Definitions::Table& table : definitions.tables()) {
    // Texts of any length are among the metadata, of which the seal has a sum.
    if (!table.content.empty() && !table.spec.element.varies) {
      const auto bytes = static_cast<int64_t>(table.content.size());
      encode_slab_sum({.dataset = number, .displacement = 0, .region = Datatype::bytes(bytes), .sum = sum_of(table.content)},
                      records);
    }
    ++number;
  }
}

void add_repeated_rows(const RowTable& table, std::span<const ByteRange> places, const Catalog& catalog,
                       std::vector<std::byte>& records) {
  const auto columns = static_cast<int64_t>(table.datasets.size());
  for (int64_t column = 0; column < columns; ++column) {
    // Returns the first row whose place is there, or behind it.
    const auto row_at = [&](int64_t place) { return std::max<int64_t>(place - column + columns - 1, 0) / columns; };
    std::vector<ByteRange> rows;
    for (const ByteRange& range : places) {
      rows.push_back({row_at(range.begin), row_at(range.end)});
    }
    const int dataset = table.datasets[static_cast<size_t>(column)];
    const int64_t row_bytes = catalog[dataset].row_bytes();
    for (const ByteRange& range : united(std::move(rows))) {
      encode_slab_sum({.dataset = dataset,
                       .displacement = range.begin * row_bytes,
                       .region = Datatype::bytes(range.size() * row_bytes),
                       .sum = kNoSum},
                      records);
    }
  }
}

Result<std::vector<std::byte>> join_records(const Catalog& catalog, const OldContent& old, size_t table_count,
                                            std::vector<std::byte> records) {
  if (!old.exists) {
    return records;
  }
  const auto kept = static_cast<int>(old.kept_path_count());
  std::vector<int> numbers;  // in the file, of each of the session's
  int next = kept;
  for (const DatasetEntry& dataset : catalog.datasets()) {
    const auto known = std::find(old.checksums.paths.begin(), old.checksums.paths.begin() + kept, dataset.spec.path);
    // One that another program has added is not among them, and has no sums.
    const bool is_listed = known != old.checksums.paths.begin() + kept;
    numbers.push_back(!dataset.is_old ? next++ : is_listed ? static_cast<int>(known - old.checksums.paths.begin()) : -1);
  }
  for (size_t i = 0; i < table_count; ++i) {
    numbers.push_back(next++);
  }
  std::vector<std::byte> joined;
  for (const SlabSum& slab : old.checksums.slabs) {
    if (slab.dataset < kept && !is_summed_again(catalog, old.checksums.paths[static_cast<size_t>(slab.dataset)])) {
      encode_slab_sum(slab, joined);
    }
  }
  add_rows_of_others(catalog, old, joined);
  STRIA_ASSIGN_OR_RETURN(std::vector<SlabSum> own, decode_slab_sums(records, static_cast<int64_t>(numbers.size())));
  for (SlabSum& slab : own) {
    slab.dataset = numbers[static_cast<size_t>(slab.dataset)];
    if (slab.dataset >= 0) {
      encode_slab_sum(slab, joined);
    }
  }
  return joined;
}

}  // namespace stria::file
