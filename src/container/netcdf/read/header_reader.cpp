#include "container/netcdf/read/header_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "base/byte_range.hpp"
#include "base/checked.hpp"

namespace stria::container::netcdf {

namespace {

constexpr int64_t kPageBytes = int64_t{64} << 10;
constexpr int64_t kNameBytesMax = 4096;
constexpr int64_t kDimensionsMax = 1024;
constexpr int64_t kSizeLimit = int64_t{1} << 62;
constexpr uint32_t kTags[] = {0x0a, 0x0b, 0x0c};
constexpr int kDimensionList = 0;
constexpr int kVariableList = 1;
constexpr int kAttributeList = 2;

/// Reads numbers one behind another; after an error all are 0.
class Source {
 public:
  Source(storage::File& file, int64_t file_bytes) : file_(file), file_bytes_(file_bytes) {}

  void set_version(Version version) { version_ = version; }
  Version version() const { return version_; }
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  int64_t offset() const { return offset_; }
  int64_t file_bytes() const { return file_bytes_; }

  void fail(const std::string& what) {
    status_.update(Status(ErrorCode::kCorrupted, fmt::format("{}: its header, at byte {}: {}", file_.path(), offset_, what)));
  }
  uint64_t number(int bytes);
  uint32_t word() { return static_cast<uint32_t>(number(4)); }
  /// Reads a length or a count.
  int64_t count() { return limited(number(version_ == Version::kCdf5 ? 8 : 4), "a count"); }
  int64_t place() { return limited(number(version_ == Version::kCdf1 ? 4 : 8), "an offset"); }
  void read(std::byte* to, int64_t bytes);
  /// Passes over bytes, and their padding.
  void skip(int64_t bytes);
  std::string name();
  /// Reads the beginning of a list: how many entries it says it has.
  int64_t list(int tag);

 private:
  int64_t limited(uint64_t value, const char* what) {
    if (value >= static_cast<uint64_t>(kSizeLimit)) {
      fail(fmt::format("{} of {}", what, value));
      return 0;
    }
    return static_cast<int64_t>(value);
  }
  bool load();

  storage::File& file_;
  int64_t file_bytes_;
  Version version_ = Version::kCdf1;
  Status status_;
  int64_t offset_ = 0;
  int64_t page_begin_ = 0;
  std::vector<std::byte> page_;
};

// Makes the page that has the present offset.
bool Source::load() {
  page_begin_ = align_down(offset_, kPageBytes);
  page_.resize(static_cast<size_t>(std::min(kPageBytes, file_bytes_ - page_begin_)));
  const storage::ReadSegment segment{page_begin_, page_.data(), static_cast<int64_t>(page_.size())};
  const auto read = file_.read({&segment, 1});
  if (!read.ok()) {
    status_.update(read.status());
  } else if (*read < segment.bytes) {
    fail("the file is cut short");
  }
  return ok();
}

void Source::read(std::byte* to, int64_t bytes) {
  if (ok() && bytes > file_bytes_ - offset_) {
    fail("the file ends within it");
  }
  while (ok() && bytes > 0) {
    const int64_t end = page_begin_ + static_cast<int64_t>(page_.size());
    if ((offset_ < page_begin_ || offset_ >= end) && !load()) {
      return;
    }
    const int64_t at = offset_ - page_begin_;
    const int64_t piece = std::min(bytes, static_cast<int64_t>(page_.size()) - at);
    std::copy_n(page_.data() + at, piece, to);
    to += piece;
    offset_ += piece;
    bytes -= piece;
  }
}

uint64_t Source::number(int bytes) {
  std::array<std::byte, 8> raw{};
  read(raw.data(), bytes);
  uint64_t value = 0;
  for (int i = 0; ok() && i < bytes; ++i) {
    value = value << 8 | static_cast<uint64_t>(raw[static_cast<size_t>(i)]);
  }
  return value;
}

// The last value of all may lack its padding.
void Source::skip(int64_t bytes) {
  if (ok() && bytes > file_bytes_ - offset_) {
    fail("the file ends within a value");
  } else if (ok()) {
    offset_ = std::min(align_up(offset_ + bytes, kUnitBytes), file_bytes_);
  }
}

std::string Source::name() {
  const int64_t bytes = count();
  if (ok() && (bytes == 0 || bytes > kNameBytesMax)) {
    fail(fmt::format("a name of {} bytes", bytes));
  }
  std::string text(ok() ? static_cast<size_t>(bytes) : 0, '\0');
  read(reinterpret_cast<std::byte*>(text.data()), static_cast<int64_t>(text.size()));
  skip(0);
  if (ok() && text.find('\0') != std::string::npos) {
    fail("a name with a NUL in it");
  }
  return text;
}

int64_t Source::list(int tag) {
  const uint32_t found = word();
  const int64_t size = count();
  if (ok() && found != kTags[tag] && (found != 0 || size != 0)) {
    fail(fmt::format("a list of kind {} in place of {}", found, kTags[tag]));
  }
  // An entry takes 12 bytes at least.
  if (ok() && size > (file_bytes_ - offset_) / 12) {
    fail(fmt::format("a list of {} entries, for which the file is too short", size));
  }
  return ok() ? size : 0;
}

Type read_type(Source& source) {
  const uint32_t number = source.word();
  const bool known = number >= static_cast<uint32_t>(kFirstType) && number <= static_cast<uint32_t>(kLastType);
  if (!known || (needs_cdf5(static_cast<Type>(number)) && source.version() != Version::kCdf5)) {
    source.fail(fmt::format("an element type {}, which CDF-{} doesn't have", number, static_cast<int>(source.version())));
    return Type::kByte;
  }
  return static_cast<Type>(number);
}

std::vector<FoundAttribute> read_attributes(Source& source) {
  std::vector<FoundAttribute> attributes;
  for (int64_t left = source.list(kAttributeList); left > 0 && source.ok(); --left) {
    FoundAttribute attribute;
    attribute.name = source.name();
    attribute.type = read_type(source);
    attribute.count = source.count();
    attribute.offset = source.offset();
    int64_t bytes = 0;
    if (!checked_multiply(attribute.count, type_bytes(attribute.type), &bytes)) {
      source.fail(fmt::format("an attribute of {} values", attribute.count));
      break;
    }
    source.skip(bytes);
    attributes.push_back(std::move(attribute));
  }
  return attributes;
}

std::vector<Dimension> read_dimensions(Source& source) {
  std::vector<Dimension> dimensions;
  bool has_unlimited = false;
  for (int64_t left = source.list(kDimensionList); left > 0 && source.ok(); --left) {
    Dimension dimension;
    dimension.name = source.name();
    dimension.length = source.count();
    dimension.unlimited = dimension.length == 0;
    if (dimension.unlimited && has_unlimited) {
      source.fail("two unlimited dimensions");
    }
    has_unlimited = has_unlimited || dimension.unlimited;
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

// Reads the shape of a variable, but for the number of records.
void read_shape(Source& source, const std::vector<Dimension>& dimensions, FoundVariable& variable) {
  const int64_t count = source.count();
  if (source.ok() && count > kDimensionsMax) {
    source.fail(fmt::format("variable '{}' has {} dimensions", variable.name, count));
  }
  for (int64_t i = 0; i < count && source.ok(); ++i) {
    const int64_t number = source.count();
    if (source.ok() && number >= static_cast<int64_t>(dimensions.size())) {
      source.fail(fmt::format("variable '{}' has dimension {}, of {}", variable.name, number, dimensions.size()));
      break;
    }
    if (!source.ok()) {
      break;
    }
    const Dimension& dimension = dimensions[static_cast<size_t>(number)];
    if (dimension.unlimited && i > 0) {
      source.fail(fmt::format("variable '{}' has the unlimited dimension behind another one", variable.name));
    }
    variable.is_record = variable.is_record || dimension.unlimited;
    variable.shape.lengths.push_back(dimension.length);
    variable.dimensions.push_back(dimension.name);
  }
}

void measure_row(Source& source, FoundVariable& variable) {
  variable.row_bytes = type_bytes(variable.shape.type);
  for (size_t i = variable.is_record ? 1 : 0; i < variable.shape.lengths.size(); ++i) {
    const bool fits = checked_multiply(variable.row_bytes, variable.shape.lengths[i], &variable.row_bytes);
    if (!fits || variable.row_bytes >= kSizeLimit) {
      source.fail(fmt::format("variable '{}' would have 2^62 bytes or more", variable.name));
      return;
    }
  }
}

std::vector<FoundVariable> read_variables(Source& source, const std::vector<Dimension>& dimensions) {
  std::vector<FoundVariable> variables;
  std::set<std::string> names;
  for (int64_t left = source.list(kVariableList); left > 0 && source.ok(); --left) {
    FoundVariable variable;
    variable.name = source.name();
    if (source.ok() && !names.insert(variable.name).second) {
      source.fail(fmt::format("two variables '{}'", variable.name));
    }
    read_shape(source, dimensions, variable);
    variable.attributes = read_attributes(source);
    variable.shape.type = read_type(source);
    // The size follows from the shape; where it is large, this field can't have it.
    static_cast<void>(source.number(source.version() == Version::kCdf5 ? 8 : 4));
    variable.begin = source.place();
    measure_row(source, variable);
    variables.push_back(std::move(variable));
  }
  return variables;
}

// Returns how many records there are, when the file doesn't say: as many as it has room for.
int64_t count_records(const FoundHeader& header, int64_t record_bytes, int64_t file_bytes) {
  int64_t begin = file_bytes;
  for (const FoundVariable& variable : header.variables) {
    begin = variable.is_record ? std::min(begin, variable.begin) : begin;
  }
  return record_bytes > 0 ? (file_bytes - begin) / record_bytes : 0;
}

// Gives record variables their number of records, and the distance between them.
void set_records(Source& source, bool is_streaming, FoundHeader& header) {
  int64_t padded_bytes = 0;
  int64_t count = 0;
  int64_t only_bytes = 0;
  for (const FoundVariable& variable : header.variables) {
    if (variable.is_record) {
      only_bytes = variable.row_bytes;
      ++count;
      if (!checked_add(padded_bytes, align_up(variable.row_bytes, kUnitBytes), &padded_bytes) || padded_bytes >= kSizeLimit) {
        source.fail("records of 2^62 bytes or more");
        return;
      }
    }
  }
  const int64_t record_bytes = count == 1 ? only_bytes : padded_bytes;
  header.record_bytes = record_bytes;
  header.tells_records = !is_streaming;
  if (is_streaming) {
    header.record_count = count_records(header, record_bytes, source.file_bytes());
  }
  int64_t all = 0;
  if (!checked_multiply(std::max<int64_t>(record_bytes, 1), header.record_count, &all) || all >= kSizeLimit) {
    source.fail(fmt::format("{} records", header.record_count));
    return;
  }
  for (FoundVariable& variable : header.variables) {
    if (variable.is_record) {
      variable.shape.lengths[0] = header.record_count;
      variable.row_stride = record_bytes == variable.row_bytes ? 0 : record_bytes;
    }
  }
}

}  // namespace

bool is_classic(std::span<const std::byte, 4> signature) {
  const auto version = static_cast<int>(signature[3]);
  return std::memcmp(signature.data(), "CDF", 3) == 0 && (version == 1 || version == 2 || version == 5);
}

Result<FoundHeader> read_header(storage::File& file) {
  STRIA_ASSIGN_OR_RETURN(const int64_t file_bytes, file.size());
  Source source(file, file_bytes);
  std::array<std::byte, 4> signature{};
  source.read(signature.data(), std::min<int64_t>(4, file_bytes));
  if (source.ok() && !is_classic(signature)) {
    return Status(ErrorCode::kFormat, file.path() + ": not a classic netCDF file");
  }
  FoundHeader header;
  header.version = static_cast<Version>(signature[3]);
  source.set_version(header.version);
  const bool is_wide = header.version == Version::kCdf5;
  const uint64_t records = source.number(is_wide ? 8 : 4);
  const bool is_streaming = records == (is_wide ? UINT64_MAX : UINT32_MAX);
  if (!is_streaming && records >= static_cast<uint64_t>(kSizeLimit)) {
    source.fail(fmt::format("{} records", records));
  }
  header.record_count = is_streaming ? 0 : static_cast<int64_t>(records);
  const std::vector<Dimension> dimensions = read_dimensions(source);
  header.attributes = read_attributes(source);
  header.variables = read_variables(source, dimensions);
  header.bytes = source.offset();
  if (source.ok()) {
    set_records(source, is_streaming, header);
  }
  STRIA_RETURN_IF_ERROR(source.status());
  return header;
}

}  // namespace stria::container::netcdf
