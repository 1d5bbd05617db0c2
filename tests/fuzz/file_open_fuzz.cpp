// Opens a file and uses what it says about its checksums: catalog, index, verify(), and a get of
// every dataset that is read as raw data. Nothing may crash, hang or print. An input that begins as
// HDF5 does is the file itself. Any other becomes the content of the tables in .stria of an
// otherwise sound file, because the file format's own checksums would stop most changes to them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "comm/self/self_comm.hpp"
#include "container/hdf5/write/writer.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/read/read_session.hpp"
#include "storage/memory/memory_driver.hpp"

namespace {

constexpr int64_t kMostGotBytes = 1 << 20;

void get_everything(stria::file::ReadSession& session) {
  std::vector<std::vector<std::byte>> kept;
  for (const stria::file::DatasetEntry& entry : session.file().catalog.datasets()) {
    int64_t bytes = entry.data_bytes();
    if (entry.data_offset < 0 || bytes > kMostGotBytes ||
        entry.spec.element.kind != stria::container::ElementSpec::Kind::kNumber) {
      continue;
    }
    kept.emplace_back(static_cast<size_t>(bytes) + 1);
    stria::Hyperslab all{std::vector<int64_t>(entry.spec.dims.size(), 0), entry.spec.dims};
    stria::Memory memory(kept.back().data(), stria::Datatype::bytes(bytes), entry.stored_element());
    static_cast<void>(session.record(session.find(entry.spec.path).value(), all, memory));
  }
  static_cast<void>(session.commit());
}

std::vector<std::byte> take(std::span<const std::byte>& input, size_t bytes) {
  std::vector<std::byte> taken(bytes);
  size_t given = std::min(bytes, input.size());
  std::copy_n(input.begin(), given, taken.begin());
  input = input.subspan(given);
  return taken;
}

// Returns two datasets, and checksum tables of them that hold what the input says: 3 names, 3
// placements, a table of rows, and the slabs' records. Of older files other programs see the
// tables' content.
std::vector<std::byte> file_around(std::span<const std::byte> input, bool is_hidden) {
  using stria::container::ElementSpec;
  stria::container::Hdf5Writer writer;
  const auto make_table = [&](const std::string& name, const ElementSpec& element, std::vector<int64_t> dims,
                              const std::vector<std::byte>& content) {
    stria::container::DatasetSpec spec;
    spec.path = ".stria/" + name;
    spec.element = element;
    spec.dims = std::move(dims);
    spec.is_hidden = is_hidden;
    static_cast<void>(writer.create_table(spec, content));
  };
  for (const char* name : {"a", "b"}) {
    stria::container::DatasetSpec spec;
    spec.path = name;
    spec.dims = *name == 'a' ? std::vector<int64_t>{2, 64} : std::vector<int64_t>{3, 5};
    static_cast<void>(writer.create_dataset(spec));
  }
  make_table("datasets", ElementSpec::of_string(2, false), {3}, take(input, 6));
  make_table("placement", ElementSpec::of_number(stria::ElementType::kInt64), {3, 2}, take(input, 48));
  make_table("rows_0", ElementSpec::of_number(stria::ElementType::kUint64), {2, 1}, take(input, 16));
  auto slabs = stria::file::with_own_sum(input);
  make_table("slabs", ElementSpec::of_number(stria::ElementType::kUint8), {static_cast<int64_t>(slabs.size())}, slabs);
  auto image = writer.finish().value();
  std::vector<std::byte> bytes(static_cast<size_t>(image.file_bytes));
  for (const auto& extent : image.extents) {
    std::copy(extent.bytes.begin(), extent.bytes.end(), bytes.begin() + extent.offset);
  }
  return bytes;
}

void read_file(const std::vector<std::byte>& bytes) {
  auto driver = std::make_shared<stria::storage::MemoryDriver>();
  stria::storage::OpenOptions open;
  open.mode = stria::storage::OpenOptions::Mode::kCreate;
  auto file = driver->open("input.h5", open).value();
  stria::storage::WriteSegment segment{0, bytes.data(), static_cast<int64_t>(bytes.size())};
  if (!file->write(std::span(&segment, 1)).ok()) {
    return;
  }
  stria::file::Environment environment;
  environment.comm = stria::make_self_comm();
  environment.driver = driver;
  stria::OpenOptions options;
  options.verify = true;
  auto session = stria::file::ReadSession::open(std::move(environment), "input.h5", options);
  if (session.ok()) {
    static_cast<void>((*session)->verify());
    get_everything(**session);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  if (size >= 4 && std::memcmp(data, "\x89HDF", 4) == 0) {
    read_file({input.begin(), input.end()});
    return 0;
  }
  read_file(file_around(input, false));
  read_file(file_around(input, true));
  return 0;
}
