#include "file/checksums/checksum_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "file/define/names.hpp"
#include "file/meet/message_fields.hpp"

namespace stria::file {

namespace {

// A displacement and a datatype's offsets add up without overflow below this.
constexpr int64_t kMaxDisplacement = int64_t{1} << 62;

Status nonsense(const std::string& what) {
  return Status(ErrorCode::kFormat, "the file's checksum tables contradict themselves or the file: " + what);
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
  const container::Reader& reader;
  int64_t file_bytes;
};

// Reads the whole content of a dataset that was written as raw data; such a dataset can't be larger
// than the file.
Result<std::vector<std::byte>> read_whole(const Source& source, const container::DatasetInfo& info) {
  STRIA_ASSIGN_OR_RETURN(int64_t bytes, dataset_bytes(info.spec));
  if (bytes > source.file_bytes) {
    return nonsense(fmt::format("'{}' would be larger than the file", info.spec.path));
  }
  std::vector<std::byte> content(static_cast<size_t>(bytes));
  const std::vector<int64_t> count = info.spec.is_hidden ? std::vector<int64_t>{bytes} : info.spec.dims;
  const std::vector<int64_t> start(count.size(), 0);
  STRIA_RETURN_IF_ERROR(source.reader.read_hyperslab(info.spec.path, start, count, content));
  return content;
}

// Says what is read of the index, with the bytes of the tables of which `slabs` has sums.
struct Reading {
  ChecksumIndex index;
  std::map<std::string, uint64_t> sums;  // by path
};

Result<std::vector<std::byte>> read_summed(const Source& source, const container::DatasetInfo& info, Reading& reading) {
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, read_whole(source, info));
  reading.sums[info.spec.path] = sum_of(content);
  return content;
}

Result<container::DatasetInfo> own_table(const Source& source, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, source.reader.dataset(path));
  STRIA_RETURN_IF_ERROR(info.problem);
  return info;
}

// Hidden content has no shape: only its bytes are known. There are as many names as places.
Status shape_names(const Source& source, container::DatasetSpec& names) {
  constexpr int64_t kPlaceBytes = 2 * sizeof(int64_t);
  STRIA_ASSIGN_OR_RETURN(const auto placement, own_table(source, std::string(kOwnGroup) + "/placement"));
  STRIA_ASSIGN_OR_RETURN(const int64_t place_bytes, dataset_bytes(placement.spec));
  const int64_t count = place_bytes / kPlaceBytes;
  if (count < 1 || names.dims[0] % count != 0) {
    return nonsense("'placement' has another length than 'datasets'");
  }
  names.element = container::ElementSpec::of_string(names.dims[0] / count, false);
  names.dims = {count};
  return Status();
}

// A row table has as many columns as datasets have places in it.
Status shape_table(const ChecksumIndex& index, int64_t number, container::DatasetSpec& table) {
  int64_t columns = 0;
  for (const auto& [of_table, column] : index.placement) {
    columns = of_table == number ? std::max(columns, std::min<int64_t>(column, INT_MAX - 1) + 1) : columns;
  }
  const int64_t row_bytes = columns * static_cast<int64_t>(sizeof(uint64_t));
  if (columns < 1 || table.dims[0] % row_bytes != 0) {
    return nonsense(fmt::format("row table {} has another shape", number));
  }
  table.element = container::ElementSpec::of_number(ElementType::kUint64);
  table.dims = {table.dims[0] / row_bytes, columns};
  return Status();
}

Status read_paths(const Source& source, Reading& reading) {
  ChecksumIndex& index = reading.index;
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, own_table(source, std::string(kOwnGroup) + "/datasets"));
  if (info.spec.is_hidden) {
    STRIA_RETURN_IF_ERROR(shape_names(source, info.spec));
  }
  if (info.spec.element.kind != container::ElementSpec::Kind::kString || info.spec.dims.size() != 1 ||
      info.spec.element.bytes < 1) {
    return nonsense("'datasets' is not a list of names");
  }
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> names, read_summed(source, info, reading));
  auto width = static_cast<size_t>(info.spec.element.bytes);
  for (size_t at = 0; at + width <= names.size(); at += width) {
    std::string path(reinterpret_cast<const char*>(names.data()) + at, width);
    // Blanks at the end belong to the name.
    index.paths.push_back(path.substr(0, path.find_last_not_of('\0') + 1));
    index.is_sealed = index.is_sealed || index.paths.back() == kSealPath;
  }
  return Status();
}

Status read_placement(const Source& source, Reading& reading) {
  ChecksumIndex& index = reading.index;
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, own_table(source, std::string(kOwnGroup) + "/placement"));
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, read_summed(source, info, reading));
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
    STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, own_table(source, RowTable::path(static_cast<size_t>(number))));
    STRIA_RETURN_IF_ERROR(info.spec.is_hidden ? shape_table(index, number, info.spec) : Status());
    STRIA_RETURN_IF_ERROR(check_table(source, info, number));
    index.tables.push_back({info.data_offset, info.spec.dims[0], info.spec.dims[1]});
  }
  for (const auto& [table, column] : index.placement) {
    if (table >= table_count || (table >= 0 && (column < 0 || column >= index.tables[static_cast<size_t>(table)][2]))) {
      return nonsense("a dataset's column is outside its row table");
    }
  }
  return Status();
}

Status read_slabs(const Source& source, ChecksumIndex& index) {
  const std::string path = std::string(kOwnGroup) + "/slabs";
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, own_table(source, path));
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, read_whole(source, info));
  STRIA_ASSIGN_OR_RETURN(const auto records, without_own_sum(content, path));
  STRIA_ASSIGN_OR_RETURN(index.slabs, decode_slab_sums(records, static_cast<int64_t>(index.paths.size())));
  return Status();
}

Status read_seal(const Source& source, ChecksumIndex& index) {
  STRIA_ASSIGN_OR_RETURN(container::DatasetInfo info, own_table(source, kSealPath));
  STRIA_ASSIGN_OR_RETURN(std::vector<std::byte> content, read_whole(source, info));
  STRIA_ASSIGN_OR_RETURN(index.seal, decode_seal(content));
  index.seal_offset = info.data_offset;
  return index.seal.tables.size() == index.tables.size() ? Status() : nonsense("'seal' is one of other row tables");
}

// The tables that say which sums there are have sums of their own among the others.
Status check_index(const Reading& reading) {
  for (const SlabSum& slab : reading.index.slabs) {
    const std::string& path = reading.index.paths[static_cast<size_t>(slab.dataset)];
    const auto found = reading.sums.find(path);
    if (found != reading.sums.end() && found->second != slab.sum) {
      return Status(ErrorCode::kCorrupted, fmt::format("dataset '{}', which belongs to the checksums, is damaged", path));
    }
  }
  return Status();
}

Status read_all(const Source& source, Reading& reading) {
  STRIA_RETURN_IF_ERROR(read_paths(source, reading));
  STRIA_RETURN_IF_ERROR(read_placement(source, reading));
  STRIA_RETURN_IF_ERROR(read_tables(source, reading.index));
  STRIA_RETURN_IF_ERROR(read_slabs(source, reading.index));
  STRIA_RETURN_IF_ERROR(check_index(reading));
  return reading.index.is_sealed ? read_seal(source, reading.index) : Status();
}

// Tools that repack or filter a file leave sums whose data can't be found any more.
bool is_as_written(const container::Reader& reader) {
  auto slabs = reader.dataset(std::string(kOwnGroup) + "/slabs");
  return !slabs.ok() || slabs->data_offset >= 0;
}

}  // namespace

ByteRange hull_of(const SlabSum& slab) {
  return {slab.displacement + slab.region.true_lower_bound(), slab.displacement + slab.region.true_upper_bound()};
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

Result<ChecksumIndex> read_checksum_index(const container::Reader& reader, int64_t file_bytes) {
  ChecksumIndex index;
  auto probe = reader.dataset(std::string(kOwnGroup) + "/datasets");
  if (!probe.ok()) {
    if (probe.status().code() == ErrorCode::kNotFound) {
      return index;
    }
    return probe.status();
  }
  if (!is_as_written(reader)) {
    return index;
  }
  Reading reading;
  reading.index.present = true;
  STRIA_RETURN_IF_ERROR(read_all({reader, file_bytes}, reading));
  return std::move(reading.index);
}

bool ChecksumIndex::is_full(int64_t table) const {
  const auto number = static_cast<size_t>(table);
  return is_sealed && seal.tables[number].count == tables[number][1] * tables[number][2];
}

std::vector<std::byte> encode_index(const ChecksumIndex& index) {
  STRIA_CHECK(index.placement.size() == index.paths.size(), index.placement.size(), index.paths.size());
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
  fields.number(index.is_sealed ? 1 : 0);
  fields.number(index.seal_offset);
  fields.number(index.is_changed ? 1 : 0);
  fields.bytes(index.is_sealed ? encode_seal(index.seal) : std::vector<std::byte>());
  fields.status(index.problem);
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
  fields.append_to(index.tables);
  const auto slabs = fields.bytes();
  index.is_sealed = fields.number() != 0;
  index.seal_offset = fields.number();
  index.is_changed = fields.number() != 0;
  const auto seal = fields.bytes();
  index.problem = fields.status();
  if (!fields.is_whole()) {
    return Status(ErrorCode::kInternal, "the checksum index was garbled on its way");
  }
  STRIA_ASSIGN_OR_RETURN(index.slabs, decode_slab_sums(slabs, static_cast<int64_t>(index.paths.size())));
  if (index.is_sealed) {
    STRIA_ASSIGN_OR_RETURN(index.seal, decode_seal(seal));
  }
  return index;
}

}  // namespace stria::file
