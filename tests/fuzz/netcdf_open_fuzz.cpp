// Opens arbitrary bytes as a classic netCDF file and reads everything in it, as a program does:
// nothing may crash, hang, print or take more memory than the file has room for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/self/self_comm.hpp"
#include "container/netcdf/read/reader.hpp"
#include "file/read/read_session.hpp"
#include "storage/memory/memory_driver.hpp"

namespace {

constexpr int64_t kMostBytes = 1 << 20;

void read_attributes(const stria::container::Reader& reader, const std::string& object) {
  const auto names = reader.attribute_names(object);
  if (!names.ok()) {
    return;
  }
  for (const std::string& name : *names) {
    static_cast<void>(reader.attribute(object, name));
  }
}

void read_everything(const stria::container::Reader& reader) {
  read_attributes(reader, "/");
  const auto paths = reader.list();
  for (const std::string& path : *paths) {
    read_attributes(reader, path);
    const auto info = reader.dataset(path);
    const auto bytes = info.ok() ? stria::container::dataset_bytes(info->spec) : info.status();
    if (bytes.ok() && *bytes <= kMostBytes) {
      std::vector<std::byte> out(static_cast<size_t>(*bytes));
      const std::vector<int64_t> start(info->spec.dims.size(), 0);
      static_cast<void>(reader.read_hyperslab(path, start, info->spec.dims, out));
    }
  }
}

void get_everything(stria::file::ReadSession& session) {
  std::vector<std::vector<std::byte>> kept;
  for (const stria::file::DatasetEntry& entry : session.file().catalog.datasets()) {
    if (entry.data_bytes() > kMostBytes || entry.spec.element.kind != stria::container::ElementSpec::Kind::kNumber) {
      continue;
    }
    kept.emplace_back(static_cast<size_t>(entry.data_bytes()) + 1);
    const stria::Hyperslab all{std::vector<int64_t>(entry.spec.dims.size(), 0), entry.spec.dims};
    const stria::Memory memory(kept.back().data(), stria::Datatype::bytes(entry.data_bytes()), entry.stored_element());
    static_cast<void>(session.record(session.find(entry.spec.path).value(), all, memory));
  }
  static_cast<void>(session.commit());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto driver = std::make_shared<stria::storage::MemoryDriver>();
  stria::storage::OpenOptions open;
  open.mode = stria::storage::OpenOptions::Mode::kCreate;
  auto file = driver->open("input.nc", open).value();
  const stria::storage::WriteSegment segment{0, reinterpret_cast<const std::byte*>(data), static_cast<int64_t>(size)};
  if (size > 0 && !file->write(std::span(&segment, 1)).ok()) {
    return 0;
  }
  const auto reader = stria::container::netcdf::NetcdfReader::open(*file);
  if (!reader.ok()) {
    return 0;
  }
  read_everything(**reader);
  stria::file::Environment environment;
  environment.comm = stria::make_self_comm();
  environment.driver = driver;
  auto session = stria::file::ReadSession::open(std::move(environment), "input.nc", {.verify = true});
  if (session.ok()) {
    static_cast<void>((*session)->verify());
    get_everything(**session);
  }
  return 0;
}
