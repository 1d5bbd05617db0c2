#include "file/define/definitions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked.hpp"
#include "base/hash.hpp"
#include "container/chunks/filters/filter_text.hpp"
#include "container/fill_value.hpp"
#include "container/object_path.hpp"
#include "datatype/convert/convert.hpp"
#include "file/define/attribute_values.hpp"
#include "file/define/chunking.hpp"
#include "file/define/names.hpp"

namespace stria::file {

namespace {

uint64_t hash_text(const std::string& text) {
  return hash_bytes(std::as_bytes(std::span(text.data(), text.size())));
}

uint64_t hash_of(const container::ElementSpec& element) {
  uint64_t hash = static_cast<uint64_t>(element.kind) * 64 + static_cast<uint64_t>(element.number);
  hash = combine_hashes(hash, static_cast<uint64_t>(element.bytes) * 2 + (element.big_endian ? 1 : 0));
  hash = combine_hashes(hash, static_cast<uint64_t>(element.meaning) * 2 + (element.varies ? 1 : 0));
  for (const NamedNumber& member : element.enumeration) {
    hash = combine_hashes(combine_hashes(hash, hash_text(member.name)), static_cast<uint64_t>(member.value));
  }
  for (const int64_t length : element.array_dims) {
    hash = combine_hashes(hash, static_cast<uint64_t>(length));
  }
  for (const auto& member : element.members) {
    hash = combine_hashes(combine_hashes(hash, hash_text(member.name)), static_cast<uint64_t>(member.offset_bytes));
    hash = combine_hashes(hash, hash_of(member.element));
  }
  return hash;
}

uint64_t hash_of(const container::DatasetSpec& spec) {
  uint64_t hash = combine_hashes(hash_text(spec.path), hash_of(spec.element));
  hash = combine_hashes(hash, static_cast<uint64_t>(spec.alignment_bytes));
  for (const int64_t size : spec.dims) {
    hash = combine_hashes(hash, static_cast<uint64_t>(size));
  }
  hash = combine_hashes(hash, spec.extendable ? 1 : 0);
  if (spec.chunking) {
    for (const int64_t size : spec.chunking->dims) {
      hash = combine_hashes(hash, static_cast<uint64_t>(size));
    }
    hash = combine_hashes(hash, hash_text(container::filter_text(spec.chunking->filters)));
  }
  for (const std::string& name : spec.dimension_names) {
    hash = combine_hashes(hash, hash_text(name));
  }
  if (!spec.fill_value.empty()) {
    hash = combine_hashes(hash, hash_bytes(spec.fill_value));
  }
  return spec.unlimited ? combine_hashes(hash, 1) : hash;
}

// 0 is for what a rank leaves out.
uint64_t content_hash(std::span<const std::byte> content) {
  return std::max<uint64_t>(hash_bytes(content), 1);
}

std::string text_of(const container::ElementSpec& element) {
  std::string text = type_name_of(element);
  for (const auto& member : element.members) {
    text += fmt::format(", '{}' at {}: {}", member.name, member.offset_bytes, text_of(member.element));
  }
  return text;
}

std::string text_of(const std::vector<int64_t>& dims) {
  return fmt::format("{{{}}}", fmt::join(dims, ", "));
}

// Returns the value itself if it is short, else what tells it from others.
std::string text_of(const container::ElementSpec& element, std::span<const std::byte> value) {
  constexpr size_t kShortBytes = 60;
  if (element.kind == container::ElementSpec::Kind::kString && value.size() <= kShortBytes) {
    return fmt::format("'{}'", std::string_view(reinterpret_cast<const char*>(value.data()), value.size()));
  }
  if (element.kind == container::ElementSpec::Kind::kNumber && value.size() == static_cast<size_t>(element.bytes)) {
    double number = 0;
    convert_elements(element.number, value.data(), ElementType::kFloat64, reinterpret_cast<std::byte*>(&number), 1);
    return fmt::format("{}", number);
  }
  return fmt::format("{} bytes of hash {:016x}", value.size(), hash_bytes(value));
}

std::string text_of_enumeration(const container::ElementSpec& element) {
  std::string text;
  for (const NamedNumber& member : element.enumeration) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", member.name, member.value);
  }
  return text.empty() ? "none" : text;
}

std::string text_of_fill_value(const container::DatasetSpec& spec) {
  std::string text = spec.fill_value.empty() ? "zero" : "of bytes";
  for (const std::byte byte : spec.fill_value) {
    text += fmt::format(" {:02x}", static_cast<unsigned>(byte));
  }
  return text;
}

DefinitionText describe_dataset(const DatasetEntry& entry) {
  const container::DatasetSpec& spec = entry.spec;
  const bool records = spec.element.kind == container::ElementSpec::Kind::kCompound;
  return {fmt::format("{}('{}')", records ? "create_records" : "create_dataset", spec.path),
          {{records ? "the columns" : "the element type", text_of(spec.element)},
           {"the shape", text_of(spec.dims)},
           {"value_range", entry.value_range ? "true" : "false"},
           {"the alignment", std::to_string(spec.alignment_bytes)},
           {"the chunks", spec.chunking ? text_of(spec.chunking->dims) : "none"},
           {"the filters", spec.chunking ? container::filter_text(spec.chunking->filters) : "none"},
           {"the dimensions", fmt::format("{}", fmt::join(spec.dimension_names, ", "))},
           {"the enumeration", text_of_enumeration(spec.element)},
           {"the fill value", text_of_fill_value(spec)},
           {"unlimited", spec.unlimited ? "true" : "false"}}};
}

Status check_member_names(const container::ElementSpec& element) {
  for (const auto& member : element.members) {
    const bool has_name = element.kind != container::ElementSpec::Kind::kArray;
    STRIA_RETURN_IF_ERROR(has_name ? check_attribute_name("", member.name) : Status());
    STRIA_RETURN_IF_ERROR(check_member_names(member.element));
  }
  return Status();
}

// libhdf5 takes longer ones, but nobody means them.
constexpr int64_t kMostStringBytes = int64_t{1} << 20;

// Strings have some bytes, members of records names, and nothing is asked that is for numbers.
Status check_no_numbers(const container::DatasetSpec& spec, const DatasetOptions& options) {
  const bool strings = spec.element.kind == container::ElementSpec::Kind::kString;
  if (strings && (spec.element.bytes < 1 || spec.element.bytes > kMostStringBytes)) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': strings have 1 to {} bytes, not {}", spec.path,
                                                           kMostStringBytes, spec.element.bytes));
  }
  if (!strings && (spec.element.members.empty() || spec.element.bytes < 1)) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': records need columns, of some bytes", spec.path));
  }
  STRIA_RETURN_IF_ERROR(check_member_names(spec.element));
  const char* asked = options.value_range                   ? "value_range"
                      : options.big_endian                  ? "big_endian"
                      : options.meaning != Meaning::kNumber ? "meaning"
                      : !options.enumeration.empty()        ? "enumeration"
                      : options.fill_value.is_given         ? "fill_value"
                                                            : nullptr;
  return asked == nullptr ? Status()
                          : Status(ErrorCode::kUnsupported, fmt::format("dataset '{}': {} is for numbers, and it holds {}",
                                                                        spec.path, asked, strings ? "strings" : "records"));
}

DefinitionText describe_table(const container::DatasetSpec& spec, uint64_t content) {
  if (spec.path.starts_with(std::string(kOwnGroup) + "/")) {
    return {};  // the library's own, after all calls
  }
  const bool strings = spec.element.kind == container::ElementSpec::Kind::kString;
  return {fmt::format("{}('{}')", strings ? "create_strings" : "create_table", spec.path),
          {{strings ? "the strings' size" : "the columns", text_of(spec.element)},
           {"the shape", text_of(spec.dims)},
           {strings ? "the strings" : "the rows", content == 0 ? "left out" : fmt::format("data of hash {:016x}", content)}}};
}

DefinitionText describe_attribute(const container::AttributeSpec& attribute) {
  return {fmt::format("set_attribute('{}', '{}')", attribute.object_path, attribute.name),
          {{"the value's type", text_of(attribute.element)},
           {"the value's shape", text_of(attribute.dims)},
           {"the value", text_of(attribute.element, attribute.value)}}};
}

// Keeps an element in the machine's byte order as the fill value; all zeros are none.
void keep_fill_value(std::vector<std::byte> element, container::DatasetSpec& spec) {
  spec.fill_value = std::move(element);
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (std::all_of(spec.fill_value.begin(), spec.fill_value.end(), is_zero)) {
    spec.fill_value.clear();
  } else if (spec.element.is_swapped()) {
    const int64_t width = element_bytes(spec.element.number);
    swap_elements(width, spec.fill_value.data(), spec.fill_value.data(), static_cast<int64_t>(spec.fill_value.size()) / width);
  }
}

// The attribute by which readers of netCDF know it.
constexpr const char* kFillValueName = "_FillValue";

void keep_fill_value(const container::AttributeSpec& attribute, container::DatasetSpec& spec) {
  const bool is_number = attribute.element.kind == container::ElementSpec::Kind::kNumber;
  if (is_number && attribute.element.number == spec.element.number &&
      static_cast<int64_t>(attribute.value.size()) == spec.element.bytes) {
    keep_fill_value(attribute.value, spec);
  }
}

Status set_fill_value(const FillValue& value, container::DatasetSpec& spec) {
  if (value.is_given) {
    auto element = container::fill_value_as(spec.element, value);
    STRIA_RETURN_IF_ERROR(element.status().with_context(fmt::format("dataset '{}'", spec.path)));
    keep_fill_value(std::move(*element), spec);
  }
  return Status();
}

// The dataset has no rows at first, or as many as the dimensions say.
Status let_grow(const container::Layout& layout, const DatasetOptions& options, container::DatasetSpec& spec) {
  const bool begins_empty = !spec.dims.empty() && spec.dims[0] == kUnlimited;
  if (options.unlimited && spec.dims.empty()) {
    return Status(ErrorCode::kInvalidArgument, fmt::format("dataset '{}': one value has no unlimited dimension", spec.path));
  }
  if (begins_empty) {
    spec.dims[0] = 0;
  }
  if (begins_empty || options.unlimited) {
    (layout.grows_by_records() ? spec.unlimited : spec.extendable) = true;
  }
  return Status();
}

}  // namespace

// Readers of netCDF leave out elements that have the value of this attribute.
Status Definitions::tell_fill_value(const Target& target, const container::DatasetSpec& spec, const FillValue& value) {
  const bool is_told = target.layout.tells_fill_values() || !spec.dimension_names.empty();
  if (!value.is_given || !is_told || spec.element.meaning != Meaning::kNumber) {
    return Status();
  }
  container::AttributeSpec attribute{.object_path = spec.path,
                                     .name = kFillValueName,
                                     .element = container::ElementSpec::of_number(spec.element.number),
                                     .dims = {1},
                                     .value = {}};
  STRIA_ASSIGN_OR_RETURN(attribute.value, container::fill_value_as(spec.element, value));
  attribute.element.big_endian = spec.element.big_endian;
  return set_attribute(target, std::move(attribute));
}

Result<int> Definitions::create_dataset(const Target& target, const container::DatasetSpec& given,
                                        const DatasetOptions& options) {
  STRIA_RETURN_IF_ERROR(check_dataset_name(given.path));
  if (given.element.kind != container::ElementSpec::Kind::kNumber) {
    STRIA_RETURN_IF_ERROR(check_no_numbers(given, options));
  }
  DatasetEntry entry;
  entry.spec = given;
  entry.spec.element.big_endian = options.big_endian;
  entry.spec.element.meaning = options.meaning;
  if (!options.enumeration.empty()) {
    entry.spec.element.enumeration = options.enumeration;
  }
  STRIA_RETURN_IF_ERROR(let_grow(target.layout, options, entry.spec));
  entry.value_range = options.value_range;
  if (entry.value_range && options.meaning == Meaning::kHalf) {
    return Status(ErrorCode::kUnsupported,
                  fmt::format("dataset '{}': numbers of half precision have no range of values", given.path));
  }
  STRIA_ASSIGN_OR_RETURN(entry.spec.path, container::normal_path(given.path));
  STRIA_RETURN_IF_ERROR(container::dataset_bytes(entry.spec).status());
  STRIA_RETURN_IF_ERROR(set_chunking(options, entry.spec));
  for (const std::string& name : options.dimensions) {
    STRIA_RETURN_IF_ERROR(name.empty() ? Status() : check_attribute_name("", name));
  }
  entry.spec.dimension_names = options.dimensions;
  STRIA_RETURN_IF_ERROR(target.layout.prepare(entry.spec));
  STRIA_RETURN_IF_ERROR(set_fill_value(options.fill_value, entry.spec));
  if (target.catalog.find(entry.spec.path) || target.before.find(entry.spec.path)) {
    const auto before = target.before.find(entry.spec.path);
    const bool is_scale = before && target.before[*before].spec.is_dimension;
    return Status(ErrorCode::kAlreadyExists,
                  fmt::format("the dataset name '{}' is taken{}", entry.spec.path,
                              is_scale ? " by a dimension of the file, which gets no coordinates later" : ""));
  }
  const int64_t by_hint = entry.data_bytes() >= alignment_bytes_ ? alignment_bytes_ : 8;
  entry.spec.alignment_bytes = options.alignment_bytes > 0 ? options.alignment_bytes : by_hint;
  STRIA_ASSIGN_OR_RETURN(entry.data_offset, target.layout.place(entry.spec));
  entry.spec.data_offset = entry.data_offset;
  entry.spec.order = next_order_++;
  uint64_t hash = combine_hashes(hash_of(entry.spec), entry.value_range ? 1 : 0);
  hash = options.data_hash != 0 ? combine_hashes(hash, options.data_hash) : hash;
  const int number = target.catalog.add(std::move(entry));
  target.log.add(hash, 1, [&catalog = std::as_const(target.catalog), number, data_hash = options.data_hash] {
    DefinitionText text = describe_dataset(catalog[number]);
    if (data_hash != 0) {
      text.arguments.emplace_back("the data", fmt::format("of hash {:016x}", data_hash));
    }
    return text;
  });
  STRIA_RETURN_IF_ERROR(tell_fill_value(target, target.catalog[number].spec, options.fill_value));
  return number;
}

Result<int> Definitions::append_rows(const Target& target, const std::string& path, int64_t rows) {
  const auto refused = [&](ErrorCode code, const std::string& why) {
    return Status(code, fmt::format("append_rows('{}', {}): {}", path, rows, why));
  };
  const auto old = target.before.find(path);
  auto number = target.catalog.find(old ? target.before[*old].spec.path : path);
  if (!number && !old) {
    return refused(ErrorCode::kNotFound, "there is no such dataset");
  }
  DatasetEntry entry = number ? target.catalog[*number] : target.before[*old];
  const bool in_place = entry.spec.unlimited;  // netCDF's records
  if (!old && in_place) {
    return refused(ErrorCode::kUnsupported,
                   "a new netCDF file has the rows that its dataset is made with; a file that is opened to append gets more");
  }
  if (!entry.spec.extendable && !in_place) {
    return refused(ErrorCode::kUnsupported, "it has a fixed number of rows; one that is made unlimited has not");
  }
  if (!entry.is_chunked() && !in_place) {
    return refused(ErrorCode::kUnsupported, entry.obstacle.empty() ? "it isn't in chunks that Stria writes" : entry.obstacle);
  }
  if (rows < 0 || !checked_add(entry.spec.dims[0], rows, &entry.spec.dims[0])) {
    return refused(ErrorCode::kInvalidArgument, "not a number of rows");
  }
  STRIA_RETURN_IF_ERROR(container::dataset_bytes(entry.spec).status());
  if (number) {
    target.catalog[*number].spec.dims = entry.spec.dims;
  } else {
    entry.is_old = true;
    entry.old_rows = target.before[*old].row_count();
    entry.data_offset = in_place ? entry.data_offset : -1;
    entry.spec.alignment_bytes = 8;
    number = target.catalog.add(std::move(entry));
  }
  const uint64_t hash = combine_hashes(hash_text(target.catalog[*number].spec.path), static_cast<uint64_t>(rows));
  target.log.add(hash, 1, [name = target.catalog[*number].spec.path, rows] {
    return DefinitionText{fmt::format("append_rows('{}')", name), {{"the number of rows", std::to_string(rows)}}};
  });
  return *number;
}

Result<int> Definitions::update(const Target& target, const std::string& path) {
  const auto refused = [&](ErrorCode code, const std::string& why) {
    return Status(code, fmt::format("update('{}'): {}", path, why));
  };
  STRIA_RETURN_IF_ERROR(check_dataset_name(path));
  const auto old = target.before.find(path);
  if (const auto number = target.catalog.find(old ? target.before[*old].spec.path : path)) {
    return target.catalog[*number].is_updated
               ? Result<int>(*number)
               : refused(ErrorCode::kInvalidArgument, "it is new, or gets rows, and can't be overwritten as well");
  }
  if (!old) {
    return refused(ErrorCode::kNotFound, "the file has no such dataset");
  }
  DatasetEntry entry = target.before[*old];
  if (entry.spec.element.kind != container::ElementSpec::Kind::kNumber) {
    return refused(ErrorCode::kUnsupported, "it holds no numbers");
  }
  if (entry.is_chunked() && entry.spec.chunking->filters.any()) {
    return refused(ErrorCode::kUnsupported,
                   "its chunks pass filters, which change their sizes; only chunks without filters can be overwritten");
  }
  if (!entry.is_readable()) {
    return refused(ErrorCode::kUnsupported,
                   "its elements lie neither in one piece of the file nor in chunks that Stria reads; only such can "
                   "be overwritten");
  }
  entry.is_old = true;
  entry.is_updated = true;
  entry.value_range = entry.spec.element.meaning != Meaning::kHalf;
  entry.spec.alignment_bytes = 8;
  const int number = target.catalog.add(std::move(entry));
  target.log.add(combine_hashes(hash_text(target.catalog[number].spec.path), 1), 1, [name = target.catalog[number].spec.path] {
    return DefinitionText{fmt::format("update('{}')", name), {}};
  });
  return number;
}

Status Definitions::create_table(const Target& target, container::DatasetSpec spec, std::span<const std::byte> content) {
  STRIA_RETURN_IF_ERROR(check_dataset_name(spec.path));
  STRIA_RETURN_IF_ERROR(check_member_names(spec.element));
  spec.order = next_order_++;
  return add_table(target, std::move(spec), content);
}

Status Definitions::add_table(const Target& target, container::DatasetSpec spec, std::span<const std::byte> content) {
  auto path = container::normal_path(spec.path);
  spec.path = path.ok() ? *path : spec.path;  // the writer reports what is wrong with it
  STRIA_RETURN_IF_ERROR(target.layout.note_table(spec));
  const auto bytes = container::dataset_bytes(spec);
  const uint64_t hash = content.empty() && bytes.ok() && *bytes > 0 ? 0 : content_hash(content);
  target.log.add(hash_of(spec), hash,
                 [this, number = tables_.size(), hash] { return describe_table(tables_[number].spec, hash); });
  const auto kept = carries_out_ ? content : std::span<const std::byte>();
  tables_.push_back({.spec = std::move(spec), .content = {kept.begin(), kept.end()}});
  return Status();
}

void Definitions::drop_own_tables() {
  const std::string_view own = kOwnGroup;
  for (Table& table : tables_) {
    const std::string& path = table.spec.path;
    table.is_dropped = table.is_dropped || (path.compare(0, own.size(), own) == 0 && path[own.size()] == '/');
  }
}

Status Definitions::set_attribute(const Target& target, container::AttributeSpec attribute) {
  STRIA_RETURN_IF_ERROR(check_attribute_name(attribute.object_path, attribute.name));
  STRIA_RETURN_IF_ERROR(target.layout.note_attribute(attribute));
  const auto number = target.catalog.find(attribute.object_path);
  if (target.layout.tells_fill_values() && attribute.name == kFillValueName && number) {
    keep_fill_value(attribute, target.catalog[*number].spec);
  }
  uint64_t hash = combine_hashes(hash_text(attribute.object_path), hash_text(attribute.name));
  hash = combine_hashes(combine_hashes(hash, hash_of(attribute.element)), hash_bytes(attribute.value));
  for (const int64_t size : attribute.dims) {
    hash = combine_hashes(hash, static_cast<uint64_t>(size));
  }
  target.log.add(hash, 1, [this, number = attributes_.size()] { return describe_attribute(attributes_[number]); });
  attributes_.push_back(std::move(attribute));
  return Status();
}

Status Definitions::create_link(const Target& target, container::LinkSpec link) {
  STRIA_RETURN_IF_ERROR(check_dataset_name(link.path));
  STRIA_RETURN_IF_ERROR(check_link_target(link.path, link.target));
  STRIA_RETURN_IF_ERROR(link.file.empty() ? Status() : check_link_target(link.path, link.file));
  STRIA_RETURN_IF_ERROR(target.layout.note_link(link));
  const uint64_t hash = combine_hashes(hash_text(link.path), combine_hashes(hash_text(link.target), hash_text(link.file)));
  target.log.add(hash, 1, [link] {
    return DefinitionText{fmt::format("create_link('{}')", link.path), {{"the target", link.target}, {"the file", link.file}}};
  });
  link.order = next_order_++;
  links_.push_back(std::move(link));
  return Status();
}

Status Definitions::carry_out(container::Writer& writer) const {
  for (const Table& table : tables_) {
    if (!table.is_dropped) {
      STRIA_RETURN_IF_ERROR(writer.create_table(table.spec, table.content));
    }
  }
  for (const container::LinkSpec& link : links_) {
    STRIA_RETURN_IF_ERROR(writer.create_link(link));
  }
  for (const container::AttributeSpec& attribute : attributes_) {
    STRIA_RETURN_IF_ERROR(writer.write_attribute(attribute));
  }
  return Status();
}

}  // namespace stria::file
