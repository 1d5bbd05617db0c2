#include "container/hdf5/test_support.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace stria::container::test {

Result<int64_t> BytesFile::read(std::span<const storage::ReadSegment> segments) {
  ++read_count;
  int64_t total = 0;
  for (const storage::ReadSegment& segment : segments) {
    if (fail_at >= 0 && segment.offset + segment.bytes > fail_at) {
      return Status(ErrorCode::kIo, path_ + ": read: Input/output error");
    }
    const int64_t left = std::max<int64_t>(static_cast<int64_t>(bytes_.size()) - segment.offset, 0);
    const int64_t bytes = std::min(segment.bytes, left);
    std::copy_n(bytes_.data() + (bytes > 0 ? segment.offset : 0), bytes, segment.data);
    total += bytes;
  }
  return total;
}

TemporaryFile::TemporaryFile(const std::string& name)
    : path_((std::filesystem::temp_directory_path() / ("stria_" + std::to_string(getpid()) + "_" + name)).string()) {}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void TemporaryFile::write(const Bytes& bytes) const {
  std::ofstream out(path_, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes TemporaryFile::read() const {
  std::ifstream in(path_, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return bytes_of(std::vector<char>(text.begin(), text.end()));
}

Bytes assemble(const SparseImage& image, const std::map<int64_t, Bytes>& raw_data) {
  Bytes file(static_cast<size_t>(image.file_bytes));
  for (const SparseImage::Extent& extent : image.extents) {
    std::copy(extent.bytes.begin(), extent.bytes.end(), file.begin() + extent.offset);
  }
  for (const auto& [offset, bytes] : raw_data) {
    std::copy(bytes.begin(), bytes.end(), file.begin() + offset);
  }
  return file;
}

namespace {

ElementSpec named_value(const ElementSpec& value, int64_t name_at, int64_t value_at, int64_t bytes) {
  return ElementSpec::of_compound(bytes, {{"name", name_at, ElementSpec::of_string(80, true)}, {"value", value_at, value}});
}

Status add_table(Hdf5Writer& writer, const std::string& name, const ElementSpec& element, std::vector<int64_t> dims) {
  int64_t bytes = element.bytes;
  for (const int64_t dim : dims) {
    bytes *= dim;
  }
  return writer.create_table(DatasetSpec{name, element, std::move(dims), 8}, Bytes(static_cast<size_t>(bytes), std::byte{32}));
}

Status add_lists(Hdf5Writer& writer) {
  const auto i32 = ElementSpec::of_number(ElementType::kInt32);
  const auto f64 = ElementSpec::of_number(ElementType::kFloat64);
  const auto s80 = ElementSpec::of_string(80, true);
  for (const char* which : {"scalars", "runtime parameters"}) {
    const int64_t count = std::string(which) == "scalars" ? 14 : 60;
    STRIA_RETURN_IF_ERROR(add_table(writer, std::string("integer ") + which, named_value(i32, 0, 80, 84), {count}));
    STRIA_RETURN_IF_ERROR(add_table(writer, std::string("real ") + which, named_value(f64, 0, 80, 88), {2 * count}));
    STRIA_RETURN_IF_ERROR(add_table(writer, std::string("string ") + which, named_value(s80, 80, 0, 160), {count}));
    STRIA_RETURN_IF_ERROR(add_table(writer, std::string("logical ") + which, named_value(i32, 4, 0, 84), {count}));
  }
  const auto s400 = ElementSpec::of_string(400, true);
  const auto info = ElementSpec::of_compound(1764, {{"file format version", 0, i32},
                                                    {"setup call", 4, s400},
                                                    {"file creation time", 404, s80},
                                                    {"flash version", 484, s80},
                                                    {"build date", 564, s80},
                                                    {"build dir", 644, s80},
                                                    {"build machine", 724, s80},
                                                    {"cflags", 804, s400},
                                                    {"fflags", 1204, s400},
                                                    {"setup time stamp", 1604, s80},
                                                    {"build time stamp", 1684, s80}});
  return add_table(writer, "sim info", info, {1});
}

Result<int64_t> add_raw(Hdf5Writer& writer, DatasetSpec spec, std::vector<std::pair<DatasetSpec, int64_t>>* places) {
  STRIA_ASSIGN_OR_RETURN(const int64_t offset, writer.create_dataset(spec));
  places->emplace_back(std::move(spec), offset);
  return offset;
}

Status add_mesh(Hdf5Writer& writer, const FlashShape& shape, std::vector<std::pair<DatasetSpec, int64_t>>* places) {
  const auto i32 = ElementSpec::of_number(ElementType::kInt32);
  const auto f64 = ElementSpec::of_number(ElementType::kFloat64);
  const std::vector<DatasetSpec> specs = {
      {"refine level", i32, {shape.blocks}, 8},      {"node type", i32, {shape.blocks}, 8},
      {"gid", i32, {shape.blocks, 15}, 8},           {"which child", i32, {shape.blocks}, 8},
      {"bflags", i32, {shape.blocks, 1}, 8},         {"processor number", i32, {shape.blocks}, 8},
      {"coordinates", f64, {shape.blocks, 3}, 8},    {"block size", f64, {shape.blocks, 3}, 8},
      {"bounding box", f64, {shape.blocks, 3, 2}, 8}};
  for (const DatasetSpec& spec : specs) {
    STRIA_RETURN_IF_ERROR(add_raw(writer, spec, places).status());
  }
  return Status();
}

}  // namespace

Status fill_flash(Hdf5Writer& writer, const FlashShape& shape, std::vector<std::pair<DatasetSpec, int64_t>>* places) {
  const auto f64 = ElementSpec::of_number(ElementType::kFloat64);
  STRIA_RETURN_IF_ERROR(add_lists(writer));
  STRIA_RETURN_IF_ERROR(add_table(writer, "unknown names", ElementSpec::of_string(4, true), {shape.variables, 1}));
  STRIA_RETURN_IF_ERROR(add_mesh(writer, shape, places));
  for (int variable = 0; variable < shape.variables; ++variable) {
    const std::string name = "v" + std::to_string(100 + variable);
    const DatasetSpec spec{name, f64, {shape.blocks, shape.cells, shape.cells, shape.cells}, shape.alignment_bytes};
    STRIA_RETURN_IF_ERROR(add_raw(writer, spec, places).status());
    STRIA_RETURN_IF_ERROR(writer.write_attribute({name, "minimum", f64, {1}, bytes_of<double>({-1.5 * variable})}));
    STRIA_RETURN_IF_ERROR(writer.write_attribute({name, "maximum", f64, {1}, bytes_of<double>({2.5 * variable})}));
  }
  return Status();
}

}  // namespace stria::container::test
