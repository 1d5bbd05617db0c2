#include "file/checksum_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>

#include "base/hash.hpp"
#include "file/message_fields.hpp"

namespace stria::file {

namespace {

// Below this a displacement and a datatype's offsets add up without overflow.
constexpr int64_t kMaxDisplacement = int64_t{1} << 62;

Status nonsense(const std::string& what) {
  return Status(ErrorCode::kFormat, "the file's checksum tables make no sense: " + what);
}

template <typename T>
void put_value(std::vector<std::byte>& out, T value) {
  size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

template <typename T>
bool take_value(std::span<const std::byte>& in, T& value) {
  if (in.size() < sizeof value) {
    return false;
  }
  std::memcpy(&value, in.data(), sizeof value);
  in = in.subspan(sizeof value);
  return true;
}

// A reader and what its file can hold.
struct Source {
  const container::Hdf5Reader& reader;
  int64_t file_bytes;
};

// The whole content of a dataset that was written as raw data, so that it can't be larger than the file.
Result<std::vector<std::byte>> read_whole(const Source& source, const container::DatasetInfo& info) {
  STRIA_ASSIGN_OR_RETURN(int64_t bytes, dataset_bytes(info.spec));
  if (bytes > source.file_bytes) {
    return nonsense(fmt::format("'{}' would be larger than the file", info.spec.path));
  }
  std::vector<std::byte> content(static_cast<size_t>(bytes));
  std::vector<int64_t> start(info.spec.dims.size(), 0);
  STRIA_RETURN_IF_ERROR(source.reader.read_hyperslab(info.spec.path, start, info.spec.dims, content));
  return content;
}

Status read_paths(const Source& source, ChecksumIndex& index) {
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, source.reader.dataset(std::string(kChecksumGroup) + "/datasets"));
  if (info.spec.element.kind != container::ElementSpec::Kind::kString || info.spec.dims.size() != 1 ||
      info.spec.element.bytes < 1) {
    return nonsense("'datasets' is not a list of names");
  }
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> names, read_whole(source, info));
  auto width = static_cast<size_t>(info.spec.element.bytes);
  for (size_t at = 0; at + width <= names.size(); at += width) {
    std::string path(reinterpret_cast<const char*>(names.data()) + at, width);
    index.paths.push_back(path.substr(0, path.find_last_not_of('\0') + 1));  // blanks at the end belong to the name
  }
  return Status();
}

Status read_placement(const Source& source, ChecksumIndex& index) {
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, source.reader.dataset(std::string(kChecksumGroup) + "/placement"));
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, read_whole(source, info));
  if (content.size() != index.paths.size() * 2 * sizeof(int64_t)) {
    return nonsense("'placement' has another length than 'datasets'");
  }
  std::span<const std::byte> rest(content);
  std::pair<int64_t, int64_t> place;
  while (take_value(rest, place.first) && take_value(rest, place.second)) {
    index.placement.push_back(place);
  }
  return Status();
}

Status check_table(const Source& source, const container::DatasetInfo& info, int64_t number) {
  STRIA_ASSIGN_OR_RETURN(int64_t bytes, dataset_bytes(info.spec));
  bool fits = bytes == 0 ||
              (info.data_offset >= 0 && info.data_offset <= source.file_bytes && bytes <= source.file_bytes - info.data_offset);
  if (info.spec.dims.size() != 2 || info.spec.element.bytes != sizeof(uint64_t) || info.spec.dims[1] > INT_MAX || !fits) {
    return nonsense(fmt::format("row table {} has another shape", number));
  }
  return Status();
}

Status read_tables(const Source& source, ChecksumIndex& index) {
  int64_t table_count = 0;
  for (const auto& [table, column] : index.placement) {
    table_count = std::max(table_count, std::min(table, static_cast<int64_t>(index.paths.size())) + 1);
  }
  for (int64_t number = 0; number < table_count; ++number) {
    STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, source.reader.dataset(RowTable().path(static_cast<size_t>(number))));
    STRIA_RETURN_IF_ERROR(check_table(source, info, number));
    index.tables.push_back({info.data_offset, info.spec.dims[0], info.spec.dims[1]});
  }
  for (const auto& [table, column] : index.placement) {
    if (table >= table_count || (table >= 0 && (column < 0 || column >= index.tables[static_cast<size_t>(table)][2]))) {
      return nonsense("a dataset's column is outside of its row table");
    }
  }
  return Status();
}

Status read_slabs(const Source& source, ChecksumIndex& index) {
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, source.reader.dataset(std::string(kChecksumGroup) + "/slabs"));
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, read_whole(source, info));
  std::span<const std::byte> records(content);
  uint64_t sum = 0;
  if (!take_value(records, sum) || sum != sum_of(records)) {
    return Status(ErrorCode::kCorrupted, "dataset '.stria/slabs', which holds checksums, is damaged");
  }
  STRIA_ASSIGN_OR_RETURN(index.slabs, decode_slab_sums(records, static_cast<int64_t>(index.paths.size())));
  return Status();
}

// Tools that pack or filter a file anew leave sums that nobody can find their data for.
bool is_as_written(const container::Hdf5Reader& reader) {
  auto slabs = reader.dataset(std::string(kChecksumGroup) + "/slabs");
  return !slabs.ok() || slabs->data_offset >= 0;
}

}  // namespace

std::string RowTable::path(size_t number) const {
  return fmt::format("{}/rows_{}", kChecksumGroup, number);
}

std::vector<RowTable> place_row_sums(std::vector<DatasetEntry>& datasets) {
  std::vector<RowTable> tables;
  std::map<int64_t, int> table_of_rows;
  for (size_t i = 0; i < datasets.size(); ++i) {
    DatasetEntry& dataset = datasets[i];
    dataset.checksum_group = -1;
    if (dataset.row_bytes() < kLeastRowBytes || dataset.row_count() == 0) {
      continue;
    }
    auto [found, added] = table_of_rows.emplace(dataset.row_count(), static_cast<int>(tables.size()));
    if (added) {
      tables.push_back({dataset.row_count(), {}, -1});
    }
    RowTable& table = tables[static_cast<size_t>(found->second)];
    dataset.checksum_group = found->second;
    dataset.checksum_column = static_cast<int>(table.datasets.size());
    table.datasets.push_back(static_cast<int>(i));
  }
  return tables;
}

namespace {

constexpr int64_t kSparsestPart = 4;

// In the order of the table, each once. A rank's rows of most datasets make a dense part of one table: no need to compare.
bool put_in_order_densely(std::vector<RowSum>& sums) {
  auto [least, most] =
      std::minmax_element(sums.begin(), sums.end(), [](const RowSum& a, const RowSum& b) { return a.index < b.index; });
  const int64_t first = least->index;
  const int64_t places = most->index - first + 1;
  const int table = sums.front().table;
  bool is_dense = places / kSparsestPart <= static_cast<int64_t>(sums.size()) &&
                  std::all_of(sums.begin(), sums.end(), [&](const RowSum& sum) { return sum.table == table; });
  if (!is_dense) {
    return false;
  }
  std::vector<uint64_t> dense(static_cast<size_t>(places), 0);  // no sum is 0
  for (const RowSum& sum : sums) {
    dense[static_cast<size_t>(sum.index - first)] = sum.sum;
  }
  sums.clear();
  for (int64_t i = 0; i < places; ++i) {
    if (dense[static_cast<size_t>(i)] != 0) {
      sums.push_back({table, first + i, dense[static_cast<size_t>(i)]});
    }
  }
  return true;
}

}  // namespace

RowSumBytes lay_out_row_sums(std::span<const RowTable> tables, std::vector<RowSum> sums) {
  // A row that was put again counts as it was put last.
  if (!sums.empty() && !put_in_order_densely(sums)) {
    std::stable_sort(sums.begin(), sums.end(),
                     [](const RowSum& a, const RowSum& b) { return std::tie(a.table, a.index) < std::tie(b.table, b.index); });
  }
  RowSumBytes bytes;
  auto& [values, segments] = bytes;
  values.reserve(sums.size());  // segments point into it
  for (size_t i = 0; i < sums.size(); ++i) {
    if (i > 0 && sums[i].table == sums[i - 1].table && sums[i].index == sums[i - 1].index) {
      values.back() = sums[i].sum;
      continue;
    }
    values.push_back(sums[i].sum);
    bool follows = i > 0 && sums[i].table == sums[i - 1].table && sums[i].index == sums[i - 1].index + 1;
    if (follows) {
      segments.back().bytes += static_cast<int64_t>(sizeof(uint64_t));
    } else {
      int64_t offset =
          tables[static_cast<size_t>(sums[i].table)].data_offset + sums[i].index * static_cast<int64_t>(sizeof(uint64_t));
      segments.push_back({offset, reinterpret_cast<const std::byte*>(&values.back()), static_cast<int64_t>(sizeof(uint64_t))});
    }
  }
  return bytes;
}

uint64_t sum_of(std::span<const std::byte> data) {
  uint64_t sum = hash_bytes(data);
  return sum == 0 ? 1 : sum;
}

std::vector<std::byte> seal_slab_sums(std::vector<std::byte> records) {
  std::vector<std::byte> sealed;
  put_value(sealed, sum_of(records));
  sealed.insert(sealed.end(), records.begin(), records.end());
  return sealed;
}

void encode_slab_sum(const SlabSum& slab, std::vector<std::byte>& record) {
  put_value(record, static_cast<int64_t>(slab.dataset));
  put_value(record, slab.sum);
  put_value(record, slab.displacement);
  slab.region.serialize(record);
}

Result<std::vector<SlabSum>> decode_slab_sums(std::span<const std::byte> records, int64_t dataset_count) {
  std::vector<SlabSum> slabs;
  while (!records.empty()) {
    SlabSum slab;
    int64_t dataset = 0;
    if (!take_value(records, dataset) || !take_value(records, slab.sum) || !take_value(records, slab.displacement)) {
      return nonsense("'slabs' is cut short");
    }
    if (dataset < 0 || dataset >= dataset_count || slab.displacement < 0 || slab.displacement >= kMaxDisplacement) {
      return nonsense("a record of 'slabs' names no dataset");
    }
    slab.dataset = static_cast<int>(dataset);
    size_t consumed_bytes = 0;
    STRIA_ASSIGN_OR_RETURN(slab.region, Datatype::deserialize(records, &consumed_bytes));
    if (!slab.region.is_sorted()) {
      return nonsense("a record of 'slabs' is not in the order of the file");
    }
    records = records.subspan(consumed_bytes);
    slabs.push_back(std::move(slab));
  }
  return slabs;
}

Result<ChecksumIndex> read_checksum_index(const container::Hdf5Reader& reader, int64_t file_bytes) {
  ChecksumIndex index;
  auto probe = reader.dataset(std::string(kChecksumGroup) + "/datasets");
  if (!probe.ok()) {
    if (probe.status().code() == ErrorCode::kNotFound) {
      return index;
    }
    return probe.status();
  }
  if (!is_as_written(reader)) {
    return index;
  }
  index.present = true;
  Source source{reader, file_bytes};
  STRIA_RETURN_IF_ERROR(read_paths(source, index));
  STRIA_RETURN_IF_ERROR(read_placement(source, index));
  STRIA_RETURN_IF_ERROR(read_tables(source, index));
  STRIA_RETURN_IF_ERROR(read_slabs(source, index));
  return index;
}

std::vector<std::byte> encode_index(const ChecksumIndex& index) {
  FieldWriter fields;
  fields.number(index.present ? 1 : 0);
  fields.number(static_cast<int64_t>(index.paths.size()));
  for (size_t i = 0; i < index.paths.size(); ++i) {
    fields.text(index.paths[i]);
    fields.number(index.placement[i].first);
    fields.number(index.placement[i].second);
  }
  fields.bytes(std::as_bytes(std::span(index.tables)));
  std::vector<std::byte> slabs;
  for (const SlabSum& slab : index.slabs) {
    encode_slab_sum(slab, slabs);
  }
  fields.bytes(slabs);
  return fields.take();
}

Result<ChecksumIndex> decode_index(std::span<const std::byte> message) {
  FieldReader fields(message);
  ChecksumIndex index;
  index.present = fields.number() != 0;
  for (int64_t left = fields.number(); left > 0 && fields.well(); --left) {
    index.paths.push_back(fields.text());
    const int64_t table = fields.number();
    index.placement.emplace_back(table, fields.number());
  }
  const auto tables = fields.bytes();
  index.tables.resize(tables.size() / sizeof(index.tables[0]));
  std::copy(tables.begin(), tables.end(), reinterpret_cast<std::byte*>(index.tables.data()));
  const auto slabs = fields.bytes();
  if (!fields.well()) {
    return Status(ErrorCode::kInternal, "the checksum index was garbled on its way");
  }
  STRIA_ASSIGN_OR_RETURN(index.slabs, decode_slab_sums(slabs, static_cast<int64_t>(index.paths.size())));
  return index;
}

}  // namespace stria::file
