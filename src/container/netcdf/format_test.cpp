// Classic netCDF without ranks: the header's bytes, the version, places, and what is refused or
// damaged.
#include <gtest/gtest.h>

#include <map>

#include "container/hdf5/test_support.hpp"
#include "container/netcdf/naive_file_test.hpp"
#include "container/netcdf/netcdf_format.hpp"
#include "container/netcdf/read/reader.hpp"

namespace stria::container::test {
namespace {

using netcdf::Version;

DatasetSpec spec_of(const std::string& path, ElementType type, std::vector<int64_t> dims) {
  DatasetSpec spec;
  spec.path = path;
  spec.element = ElementSpec::of_number(type);
  spec.dims = std::move(dims);
  spec.alignment_bytes = 8;
  return spec;
}

template <typename T>
AttributeSpec number(const std::string& object, const std::string& name, std::vector<T> values) {
  AttributeSpec spec{object, name, ElementSpec::of_number(element_type_of<T>()), {}, bytes_of(values)};
  if (values.size() != 1) {
    spec.dims = {static_cast<int64_t>(values.size())};
  }
  return spec;
}

AttributeSpec text(const std::string& object, const std::string& name, const std::string& value) {
  const auto width = static_cast<int64_t>(std::max<size_t>(value.size(), 1));
  AttributeSpec spec{
      object, name, ElementSpec::of_string(width, false), {}, bytes_of(std::vector<char>(value.begin(), value.end()))};
  spec.value.resize(static_cast<size_t>(width));
  return spec;
}

/// A new file, made as a session does.
struct NewFile {
  explicit NewFile(std::optional<Version> version = std::nullopt) : format(version), layout(format.make_layout()) {}

  Status add(DatasetSpec spec) {
    STRIA_RETURN_IF_ERROR(layout->prepare(spec));
    STRIA_ASSIGN_OR_RETURN(spec.data_offset, layout->place(spec));
    datasets.push_back(spec);
    return Status();
  }
  Status set(const AttributeSpec& attribute) {
    attributes.push_back(attribute);
    return layout->note_attribute(attribute);
  }
  Status table(const DatasetSpec& spec, const Bytes& content) {
    tables.emplace_back(spec, content);
    return layout->note_table(spec);
  }
  Result<SparseImage> finish() {
    STRIA_RETURN_IF_ERROR(layout->settle(true));
    STRIA_ASSIGN_OR_RETURN(auto writer, format.make_writer(*layout));
    for (DatasetSpec& spec : datasets) {
      layout->finish_place(spec);
      STRIA_RETURN_IF_ERROR(writer->create_dataset(spec).status());
    }
    for (const auto& [spec, content] : tables) {
      STRIA_RETURN_IF_ERROR(writer->create_table(spec, content));
    }
    for (const AttributeSpec& attribute : attributes) {
      STRIA_RETURN_IF_ERROR(writer->write_attribute(attribute));
    }
    return writer->finish();
  }
  Bytes bytes(const std::map<int64_t, Bytes>& raw_data = {}) { return assemble(finish().value(), raw_data); }
  int version() {
    const SparseImage image = finish().value();
    return static_cast<int>(image.extents[0].bytes[3]);
  }

  NetcdfFormat format;
  std::unique_ptr<Layout> layout;
  std::vector<DatasetSpec> datasets;
  std::vector<std::pair<DatasetSpec, Bytes>> tables;
  std::vector<AttributeSpec> attributes;
};

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte one : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += {kDigits[static_cast<size_t>(one) >> 4], kDigits[static_cast<size_t>(one) & 15]};
  }
  return text;
}

// The example of docs/formats/netcdf.md.
TEST(NetcdfFormat, TheHeaderHasTheseBytes) {
  NewFile file;
  DatasetSpec temperature = spec_of("temp", ElementType::kFloat32, {2, 3});
  temperature.dimension_names = {"y", "x"};
  ASSERT_TRUE(file.add(temperature).ok());
  ASSERT_TRUE(file.set(text("temp", "unit", "K")).ok());
  ASSERT_TRUE(file.set(number<int16_t>("/", "step", {7})).ok());
  const SparseImage image = file.finish().value();
  ASSERT_EQ(image.extents.size(), 1u);
  EXPECT_EQ(hex(image.extents[0].bytes),
            "43444601"
            "00000000"  // CDF-1, no records
            "0000000a"
            "00000002"  // two dimensions
            "00000001"
            "79000000"
            "00000002"
            "00000001"
            "78000000"
            "00000003"  // y 2, x 3
            "0000000c"
            "00000001"
            "00000004"
            "73746570"
            "00000003"
            "00000001"
            "00070000"  // step
            "0000000b"
            "00000001"  // one variable
            "00000004"
            "74656d70"
            "00000002"
            "00000000"
            "00000001"  // temp, of y and x
            "0000000c"
            "00000001"
            "00000004"
            "756e6974"
            "00000002"
            "00000001"
            "4b000000"  // unit
            "00000005"
            "00000018"
            "00000400");  // float, 24 bytes, at 1024
  EXPECT_EQ(file.datasets[0].data_offset, 1024);
  EXPECT_EQ(image.file_bytes, 1024 + 24);
}

TEST(NetcdfFormat, TheFirstVersionThatHoldsTheFile) {
  constexpr int64_t kGigabyte = int64_t{1} << 30;
  const auto version_of = [](const std::vector<DatasetSpec>& specs) {
    NewFile file;
    for (const DatasetSpec& spec : specs) {
      EXPECT_TRUE(file.add(spec).ok());
    }
    return file.version();
  };
  EXPECT_EQ(version_of({spec_of("a", ElementType::kFloat64, {4})}), 1);
  EXPECT_EQ(version_of({spec_of("a", ElementType::kInt64, {4})}), 5);
  EXPECT_EQ(version_of({spec_of("a", ElementType::kUint8, {4})}), 5);
  EXPECT_EQ(version_of({spec_of("a", ElementType::kInt8, {2, kGigabyte}), spec_of("b", ElementType::kInt8, {4})}), 2);
  EXPECT_EQ(version_of({spec_of("a", ElementType::kInt8, {4, kGigabyte}), spec_of("b", ElementType::kInt8, {4})}), 5);
  EXPECT_EQ(version_of({spec_of("a", ElementType::kInt8, {4 * kGigabyte})}), 5);
  NewFile attributes;
  EXPECT_TRUE(attributes.set(number<uint64_t>("/", "large", {1})).ok());
  EXPECT_EQ(attributes.version(), 5);
  NewFile asked(Version::kCdf2);
  EXPECT_TRUE(asked.add(spec_of("a", ElementType::kFloat64, {4})).ok());
  EXPECT_EQ(asked.version(), 2);
  NewFile impossible(Version::kCdf1);
  EXPECT_TRUE(impossible.add(spec_of("count", ElementType::kUint32, {4})).ok());
  const Status refused = impossible.finish().status();
  EXPECT_EQ(refused.code(), ErrorCode::kUnsupported);
  EXPECT_NE(refused.message().find("dataset 'count' is uint32, which CDF-1 can't hold; it needs CDF-5"), std::string::npos)
      << refused.message();
}

TEST(NetcdfFormat, WhatCannotBeIsRefusedByName) {
  const auto refusal = [](const DatasetSpec& spec) {
    NewFile file;
    EXPECT_TRUE(file.add(spec_of("x_first", ElementType::kFloat64, {4})).ok());
    const Status status = file.add(spec);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(spec.path), std::string::npos) << status.message();
    return status.message();
  };
  const auto named = [](DatasetSpec spec, std::vector<std::string> names) {
    spec.dimension_names = std::move(names);
    return spec;
  };
  const auto has = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  has(refusal(spec_of("group/dens", ElementType::kFloat64, {4})), "has no groups");
  has(refusal(spec_of("h1  ", ElementType::kFloat64, {4})), "ends with a blank");
  has(refusal(spec_of("-x", ElementType::kFloat64, {4})), "begins with neither");
  has(refusal(spec_of("stria_seal", ElementType::kFloat64, {4})), "checksums");
  has(refusal(spec_of("none", ElementType::kFloat64, {0, 4})), "length 0");
  has(refusal(spec_of("x_first", ElementType::kFloat64, {4})), "is taken");
  has(refusal(named(spec_of("b", ElementType::kFloat64, {5}), {"dim_4"})), "has a length of 5");
  has(refusal(named(spec_of("b", ElementType::kFloat64, {5}), {"y", "x"})), "other names");
  DatasetSpec chunked = spec_of("c", ElementType::kFloat64, {8});
  chunked.chunking = Chunking{{4}, {}};
  has(refusal(chunked), "no chunks");
  NewFile file;
  DatasetSpec record = spec_of("r", ElementType::kFloat64, {4});
  record.unlimited = true;
  EXPECT_TRUE(file.add(record).ok());
  record.path = "s";
  record.dims = {5};
  has(file.add(record).message(), "has a length of 5, unlimited, but that of another dataset has 4, unlimited");
  DatasetSpec table = spec_of("t", ElementType::kFloat64, {1});
  table.element = ElementSpec::of_compound(8, {});
  has(file.table(table, Bytes(8)).message(), "'t': a classic netCDF file holds numbers and strings");
  AttributeSpec list = text("/", "words", "ab");
  list.dims = {2};
  list.element.bytes = 1;
  has(file.set(list).message(), "attribute 'words' of '/' is a list of strings");
}

TEST(NetcdfFormat, AttributesAndTablesComeBack) {
  for (const auto version : {Version::kCdf1, Version::kCdf2, Version::kCdf5}) {
    NewFile file(version);
    ASSERT_TRUE(file.add(spec_of("dens", ElementType::kFloat64, {2})).ok());
    DatasetSpec names = spec_of("names", ElementType::kByte, {2, 1});
    names.element = ElementSpec::of_string(3, false);
    ASSERT_TRUE(file.table(names, bytes_of(std::vector<char>{'o', 'n', 'e', 't', 'w', 'o'})).ok());
    ASSERT_TRUE(file.table(spec_of("table", ElementType::kInt32, {3}), bytes_of<int32_t>({1, -2, 300000})).ok());
    ASSERT_TRUE(file.table(spec_of(".stria/seal", ElementType::kUint64, {2}), bytes_of<uint64_t>({5, 6})).ok());
    ASSERT_TRUE(file.set(number<double>("dens", "limits", {1.5, -2})).ok());
    ASSERT_TRUE(file.set(number<int8_t>("/", "small", {-3})).ok());
    ASSERT_TRUE(file.set(number<float>("/", "none", {})).ok());
    ASSERT_TRUE(file.set(text("/", "empty", "")).ok());
    ASSERT_TRUE(file.set(text("/", "text", "first")).ok());
    ASSERT_TRUE(file.set(text("/", "text", "second")).ok());
    SparseImage image = file.finish().value();
    EXPECT_EQ(image.tables.size(), 3u);
    const int64_t begin = file.datasets[0].data_offset;
    BytesFile storage(assemble(image, {{begin, bytes_of(std::vector<uint64_t>{0x000000000000f03f, 0})}}));
    const auto reader = netcdf::NetcdfReader::open(storage).value();
    EXPECT_EQ(reader->list().value(), (std::vector<std::string>{".stria/seal", "dens", "names", "table"}));
    const auto attribute = [&](const char* object, const char* name) { return reader->attribute(object, name).value(); };
    EXPECT_EQ(attribute("dens", "limits").value, bytes_of<double>({1.5, -2}));
    EXPECT_EQ(attribute("/", "small").value, bytes_of<int8_t>({-3}));
    EXPECT_EQ(attribute("/", "none").dims, std::vector<int64_t>{0});
    EXPECT_EQ(attribute("/", "empty").value, Bytes(1));
    EXPECT_EQ(attribute("/", "text").value, bytes_of(std::vector<char>{'s', 'e', 'c', 'o', 'n', 'd'}));
    EXPECT_EQ(reader->attribute("/", "other").status().code(), ErrorCode::kNotFound);
    EXPECT_EQ(reader->dataset("other").status().code(), ErrorCode::kNotFound);
    Bytes words(6);
    ASSERT_TRUE(reader->read_hyperslab("names", std::vector<int64_t>{0, 0}, std::vector<int64_t>{2, 1}, words).ok());
    EXPECT_EQ(words, file.tables[0].second);
    Bytes numbers(8);
    ASSERT_TRUE(reader->read_hyperslab("table", std::vector<int64_t>{1}, std::vector<int64_t>{2}, numbers).ok());
    EXPECT_EQ(numbers, bytes_of<int32_t>({-2, 300000}));
    Bytes seal(16);
    ASSERT_TRUE(reader->read_hyperslab(".stria/seal", std::vector<int64_t>{0}, std::vector<int64_t>{2}, seal).ok());
    EXPECT_EQ(seal, bytes_of<uint64_t>({5, 6}));
    const DatasetInfo dens = reader->dataset("dens").value();
    EXPECT_EQ(dens.data_offset, begin);
    EXPECT_TRUE(dens.spec.element.big_endian);
    Bytes one(8);
    ASSERT_TRUE(reader->read_hyperslab("dens", std::vector<int64_t>{0}, std::vector<int64_t>{1}, one).ok());
    EXPECT_EQ(one, bytes_of<double>({1.0}));
    EXPECT_FALSE(reader->read_hyperslab("dens", std::vector<int64_t>{1}, std::vector<int64_t>{2}, seal).ok());
  }
}

TEST(NetcdfFormat, RecordsLieAmongEachOther) {
  NewFile file;
  DatasetSpec record = spec_of("odd", ElementType::kInt8, {4, 3});
  record.unlimited = true;
  ASSERT_TRUE(file.add(record).ok());
  ASSERT_TRUE(file.add(spec_of("fixed", ElementType::kFloat64, {2})).ok());
  record = spec_of("even", ElementType::kFloat32, {4, 2});
  record.unlimited = true;
  ASSERT_TRUE(file.add(record).ok());
  ASSERT_TRUE(file.table(spec_of("table", ElementType::kInt16, {3}), bytes_of<int16_t>({1, 2, 3})).ok());
  NaiveFile naive(file.bytes());
  EXPECT_EQ(naive.records, 4);
  EXPECT_EQ(naive.record_bytes(), 4 + 8);
  EXPECT_GT(naive.variable("odd").begin, naive.variable("table").begin);
  EXPECT_EQ(naive.variable("even").begin, naive.variable("odd").begin + 4);
  EXPECT_EQ(file.datasets[2].row_stride_bytes, 12);
  EXPECT_EQ(naive.values("table"), (std::vector<double>{1, 2, 3}));
  // Defined too late, when the places are in use.
  EXPECT_NE(file.add(spec_of("late", ElementType::kInt8, {3})).message().find("before the first flush()"), std::string::npos);

  NewFile alone;
  record = spec_of("bytes", ElementType::kInt8, {5, 3});
  record.unlimited = true;
  ASSERT_TRUE(alone.add(record).ok());
  const SparseImage image = alone.finish().value();
  const int64_t begin = alone.datasets[0].data_offset;
  EXPECT_EQ(alone.datasets[0].row_stride_bytes, 0);
  std::vector<int8_t> values(15);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int8_t>(i);
  }
  BytesFile storage(assemble(image, {{begin, bytes_of(values)}}));
  const auto reader = netcdf::NetcdfReader::open(storage).value();
  Bytes rows(6);
  ASSERT_TRUE(reader->read_hyperslab("bytes", std::vector<int64_t>{2, 1}, std::vector<int64_t>{3, 2}, rows).ok());
  EXPECT_EQ(rows, bytes_of<int8_t>({7, 8, 10, 11, 13, 14}));
}

// A file of three variables whose every byte may be wrong, or which may end anywhere.
TEST(NetcdfFormat, DamagedHeadersAreErrorsOrOtherFiles) {
  for (const auto version : {Version::kCdf1, Version::kCdf5}) {
    NewFile file(version);
    DatasetSpec record = spec_of("r", ElementType::kInt16, {3, 2});
    record.unlimited = true;
    ASSERT_TRUE(file.add(record).ok());
    record.path = "s";
    ASSERT_TRUE(file.add(record).ok());
    ASSERT_TRUE(file.add(spec_of("fixed", ElementType::kInt32, {2, 2})).ok());
    ASSERT_TRUE(file.set(text("r", "unit", "K")).ok());
    const Bytes whole = file.bytes();
    const auto header_bytes = static_cast<size_t>(NaiveFile(whole).header_bytes);
    const auto read_all = [](Bytes bytes) {
      BytesFile storage(std::move(bytes));
      auto reader = netcdf::NetcdfReader::open(storage);
      if (!reader.ok()) {
        return reader.status();
      }
      for (const std::string& path : (*reader)->list().value()) {
        STRIA_ASSIGN_OR_RETURN(const DatasetInfo info, (*reader)->dataset(path));
        const auto bytes_of_it = dataset_bytes(info.spec);
        if (bytes_of_it.ok() && *bytes_of_it < 4096) {
          Bytes out(static_cast<size_t>(*bytes_of_it));
          const std::vector<int64_t> start(info.spec.dims.size(), 0);
          STRIA_RETURN_IF_ERROR((*reader)->read_hyperslab(path, start, info.spec.dims, out));
        }
      }
      return Status();
    };
    ASSERT_TRUE(read_all(whole).ok());
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const Status status = read_all(Bytes(whole.begin(), whole.begin() + static_cast<int64_t>(bytes)));
      // Zeros stand behind the header in the place of what is missing.
      EXPECT_EQ(status.code(), bytes < 4              ? ErrorCode::kFormat
                               : bytes < header_bytes ? ErrorCode::kCorrupted
                                                      : ErrorCode::kOk)
          << bytes;
    }
    for (size_t at = 0; at < header_bytes; ++at) {
      for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
        Bytes changed = whole;
        changed[at] = static_cast<std::byte>(value);
        static_cast<void>(read_all(changed));
      }
    }
  }
}

TEST(NetcdfFormat, AFileThatDoesNotSayHowManyRecordsItHas) {
  NewFile file;
  DatasetSpec record = spec_of("r", ElementType::kInt16, {3, 2});
  record.unlimited = true;
  ASSERT_TRUE(file.add(record).ok());
  Bytes bytes = file.bytes();
  std::fill(bytes.begin() + 4, bytes.begin() + 8, std::byte{0xff});
  BytesFile storage(bytes);
  EXPECT_EQ(netcdf::NetcdfReader::open(storage).value()->dataset("r").value().spec.dims, (std::vector<int64_t>{3, 2}));
}

}  // namespace
}  // namespace stria::container::test
