// Tests what is added to a file whose metadata are damaged in any byte: a file that can be read, or
// an error.
#include <gtest/gtest.h>

#include "container/hdf5/exercise.hpp"
#include "container/hdf5/hdf5_format.hpp"
#include "container/hdf5/test_support.hpp"

namespace stria::container::test {
namespace {

DatasetSpec spec_of(const std::string& path, std::vector<int64_t> dims) {
  DatasetSpec spec;
  spec.path = path;
  spec.element = ElementSpec::of_number(ElementType::kFloat64);
  spec.dims = std::move(dims);
  return spec;
}

AttributeSpec reference_to(const std::string& path) {
  const auto bytes = std::as_bytes(std::span(path));
  const auto element = ElementSpec::of_reference(static_cast<int64_t>(path.size()));
  return {"g/d1", "leads to", element, {}, {bytes.begin(), bytes.end()}};
}

Bytes small_file(int links) {
  Hdf5Writer writer;
  for (int i = 0; i < links; ++i) {
    EXPECT_TRUE(writer.create_table(spec_of("g/d" + std::to_string(i), {2}), Bytes(16)).ok());
  }
  DatasetSpec series = spec_of("series", {0, 2});
  series.extendable = true;
  series.chunking = Chunking{{4, 2}, {}};
  EXPECT_TRUE(writer.create_dataset(series).ok());
  const AttributeSpec unit{"g/d0", "unit", ElementSpec::of_number(ElementType::kFloat64), {}, Bytes(8)};
  EXPECT_TRUE(writer.write_attribute(unit).ok());
  EXPECT_TRUE(writer.write_attribute(reference_to("series")).ok());
  return assemble(writer.finish().value(), {});
}

// Adds a table, an attribute and a row; changes `file` when all of it can be done.
Status grow(Bytes& file) {
  BytesFile storage(file);
  const Hdf5Format format;
  STRIA_ASSIGN_OR_RETURN(const auto growth, format.open_growth(storage));
  const auto layout = format.make_layout();
  layout->begin_behind(growth->end());
  STRIA_ASSIGN_OR_RETURN(const auto writer, growth->make_writer(*layout));
  STRIA_RETURN_IF_ERROR(writer->create_table(spec_of("g/new", {1}), Bytes(8)));
  STRIA_RETURN_IF_ERROR(writer->write_attribute({"g/d0", "unit", ElementSpec::of_number(ElementType::kFloat64), {}, Bytes(8)}));
  DatasetSpec series = spec_of("series", {3, 2});
  series.extendable = true;
  series.chunking = Chunking{{4, 2}, {}};
  STRIA_RETURN_IF_ERROR(writer->extend_dataset(series));
  STRIA_ASSIGN_OR_RETURN(const SparseImage image, writer->finish());
  file.resize(static_cast<size_t>(image.file_bytes));
  for (const auto& extent : image.extents) {
    std::copy(extent.bytes.begin(), extent.bytes.end(), file.begin() + extent.offset);
  }
  std::copy(image.switch_over.begin(), image.switch_over.end(), file.begin());
  return Status();
}

TEST(Hdf5Growth, AddsToHeadersAndToTrees) {
  for (const int links : {3, 300}) {
    Bytes file = small_file(links);
    for (int times = 1; times <= 2; ++times) {
      Bytes again = file;
      const Status grown = grow(again);
      ASSERT_TRUE(grown.ok() == (times == 1)) << grown.message();  // the name is taken
      file = grown.ok() ? again : file;
    }
    BytesFile storage(file);
    const auto reader = Hdf5Format().open(storage).value();
    const auto listed = reader->list();
    ASSERT_TRUE(listed.ok()) << listed.status().message();
    EXPECT_EQ(listed->size(), static_cast<size_t>(links) + 3);
    const auto series = reader->dataset("series");
    ASSERT_TRUE(series.ok()) << series.status().message();
    EXPECT_EQ(series->spec.dims, (std::vector<int64_t>{3, 2}));
    EXPECT_TRUE(reader->attribute("g/d0", "unit").ok());
    const auto reference = reader->attribute("g/d1", "leads to");
    ASSERT_TRUE(reference.ok()) << reference.status().message();
    EXPECT_EQ(reference->value, bytes_of(std::vector<char>{'/', 's', 'e', 'r', 'i', 'e', 's'}));
    EXPECT_TRUE(read_everything(storage).ok());
  }
}

TEST(Hdf5Growth, DamageIsAnError) {
  const Bytes right = small_file(4);
  int refused = 0;
  for (size_t at = 0; at < right.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      Bytes file = right;
      file[at] ^= static_cast<std::byte>(1 << bit);
      refused += grow(file).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(refused, static_cast<int>(right.size()) / 2);
  for (size_t bytes = 0; bytes < right.size(); bytes += 7) {
    Bytes file(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_FALSE(grow(file).ok()) << bytes;
  }
}

}  // namespace
}  // namespace stria::container::test
