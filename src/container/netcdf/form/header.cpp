#include "container/netcdf/form/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/byte_range.hpp"

namespace stria::container::netcdf {

namespace {

constexpr uint32_t kDimensionTag = 0x0a;
constexpr uint32_t kVariableTag = 0x0b;
constexpr uint32_t kAttributeTag = 0x0c;
constexpr int64_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kUint32Max = std::numeric_limits<uint32_t>::max();
// Variables of 4 GiB less 4 bytes or more have this in place of their size.
constexpr int64_t kLargeBytes = kUint32Max - 3;

class Encoder {
 public:
  explicit Encoder(Version version) : version_(version) {}

  void number(uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
      out_.push_back(static_cast<std::byte>(value >> shift));
    }
  }
  void tag(uint32_t value) { number(value, 4); }
  /// Writes a length or a count.
  void count(int64_t value) { number(static_cast<uint64_t>(value), version_ == Version::kCdf5 ? 8 : 4); }
  void offset(int64_t value) { number(static_cast<uint64_t>(value), version_ == Version::kCdf1 ? 4 : 8); }
  void padded(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    out_.resize(static_cast<size_t>(align_up(static_cast<int64_t>(out_.size()), kUnitBytes)));
  }
  void name(const std::string& text) {
    count(static_cast<int64_t>(text.size()));
    padded(std::as_bytes(std::span(text)));
  }
  /// Writes the beginning of a list; an absent one has no tag.
  void list(uint32_t kind, size_t size) {
    tag(size == 0 ? 0 : kind);
    count(static_cast<int64_t>(size));
  }
  void attributes(const std::vector<Attribute>& list_of) {
    list(kAttributeTag, list_of.size());
    for (const Attribute& attribute : list_of) {
      name(attribute.name);
      tag(static_cast<uint32_t>(attribute.type));
      count(attribute.count);
      padded(attribute.bytes);
    }
  }
  void variable(const Variable& variable) {
    name(variable.name);
    count(static_cast<int64_t>(variable.dimensions.size()));
    for (const int dimension : variable.dimensions) {
      count(dimension);
    }
    attributes(variable.attributes);
    tag(static_cast<uint32_t>(variable.type));
    const int64_t bytes = align_up(variable.bytes, kUnitBytes);
    count(version_ == Version::kCdf5 || bytes < kLargeBytes ? bytes : kUint32Max);
    offset(variable.begin);
  }
  std::vector<std::byte> take() { return std::move(out_); }

 private:
  Version version_;
  std::vector<std::byte> out_;
};

Status unfit(Version version, const std::string& what, const char* needed) {
  return Status(ErrorCode::kUnsupported,
                fmt::format("{}, which CDF-{} can't hold; it needs {}", what, static_cast<int>(version), needed));
}

Status check_attributes(const std::vector<Attribute>& attributes, const std::string& owner, Version version) {
  for (const Attribute& attribute : attributes) {
    if (needs_cdf5(attribute.type)) {
      return unfit(version,
                   fmt::format("attribute '{}' of '{}' is {}", attribute.name, owner,
                               element_type_name(element_of(attribute.type).number)),
                   "CDF-5");
    }
  }
  return Status();
}

Status check_variable(const Header& header, const Variable& variable, Version version, bool is_last) {
  const std::string name = fmt::format("dataset '{}'", variable.name);
  if (needs_cdf5(variable.type)) {
    return unfit(version, fmt::format("{} is {}", name, element_type_name(element_of(variable.type).number)), "CDF-5");
  }
  STRIA_RETURN_IF_ERROR(check_attributes(variable.attributes, variable.name, version));
  if (version == Version::kCdf1 && variable.begin > kInt32Max) {
    return unfit(version, fmt::format("{} begins behind 2 GiB", name), "CDF-2 or CDF-5");
  }
  // The last one may be larger, where no record follows it.
  const int64_t most = version == Version::kCdf1 ? kInt32Max - 3 : kLargeBytes - 1;
  const bool may_be_large = is_last && version == Version::kCdf2 && !header.is_record(variable);
  if (align_up(variable.bytes, kUnitBytes) > most && !may_be_large) {
    return unfit(version, fmt::format("{} has {} bytes", name, variable.bytes), "CDF-5");
  }
  return Status();
}

}  // namespace

void RecordSize::add(int64_t bytes) {
  first_bytes_ = count_ == 0 ? bytes : first_bytes_;
  padded_bytes_ += align_up(bytes, kUnitBytes);
  ++count_;
}

Status check_version(const Header& header, Version version) {
  if (version == Version::kCdf5) {
    return Status();
  }
  for (const Dimension& dimension : header.dimensions) {
    if (dimension.length > kInt32Max) {
      return unfit(version, fmt::format("dimension '{}' has a length of {}", dimension.name, dimension.length), "CDF-5");
    }
  }
  if (header.record_count >= kInt32Max) {
    return unfit(version, fmt::format("there are {} records", header.record_count), "CDF-5");
  }
  STRIA_RETURN_IF_ERROR(check_attributes(header.attributes, "/", version));
  for (const Variable& variable : header.variables) {
    STRIA_RETURN_IF_ERROR(check_variable(header, variable, version, &variable == &header.variables.back()));
  }
  return Status();
}

Version smallest_version(const Header& header) {
  for (const Version version : {Version::kCdf1, Version::kCdf2}) {
    if (check_version(header, version).ok()) {
      return version;
    }
  }
  return Version::kCdf5;
}

std::vector<std::byte> encode(const Header& header, Version version) {
  Encoder out(version);
  out.padded(std::vector<std::byte>{std::byte{'C'}, std::byte{'D'}, std::byte{'F'}, static_cast<std::byte>(version)});
  out.count(header.record_count);
  out.list(kDimensionTag, header.dimensions.size());
  for (const Dimension& dimension : header.dimensions) {
    out.name(dimension.name);
    out.count(dimension.unlimited ? 0 : dimension.length);
  }
  out.attributes(header.attributes);
  out.list(kVariableTag, header.variables.size());
  for (const Variable& variable : header.variables) {
    out.variable(variable);
  }
  return out.take();
}

int64_t name_bytes_max(const std::string& name) {
  return 8 + align_up(static_cast<int64_t>(name.size()), kUnitBytes);
}
int64_t dimension_bytes_max(const std::string& name) {
  return name_bytes_max(name) + 8;
}
int64_t attribute_bytes_max(const std::string& name, int64_t value_bytes) {
  return name_bytes_max(name) + 12 + align_up(value_bytes, kUnitBytes);
}
int64_t variable_bytes_max(const std::string& name, size_t dimensions) {
  return name_bytes_max(name) + 8 + 8 * static_cast<int64_t>(dimensions) + 12 + 4 + 16;
}

}  // namespace stria::container::netcdf
