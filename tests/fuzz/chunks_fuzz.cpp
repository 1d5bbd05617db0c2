// Chunks of an HDF5 file and the trees that say where they are: neither has a checksum of HDF5's.
// The first byte of an input chooses. Even: the rest is a chunk, which passed the filters that the
// byte names. Odd: the rest are changes to an otherwise sound file, 3 bytes each, a place among its
// trees and chunks and a byte. Everything is read, and verified. Nothing may crash, hang or print.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "chunks_fuzz_kinds.hpp"
#include "comm/self/self_comm.hpp"
#include "container/chunks/filter_pipeline.hpp"
#include "file/read/read_session.hpp"
#include "file/write/defining.hpp"
#include "file/write/write_session.hpp"
#include "storage/memory/memory_driver.hpp"

namespace {

using Bytes = std::vector<std::byte>;

constexpr const char* kPath = "chunks.h5";

stria::file::Environment environment_of(std::shared_ptr<stria::storage::Driver> driver) {
  stria::file::Environment environment;
  environment.comm = stria::make_self_comm();
  environment.driver = std::move(driver);
  return environment;
}

Bytes content_of(stria::storage::Driver& driver) {
  const auto file = driver.open(kPath, {}).value();
  Bytes bytes(static_cast<size_t>(file->size().value()));
  const stria::storage::ReadSegment segment{0, bytes.data(), static_cast<int64_t>(bytes.size())};
  file->read(std::span(&segment, 1)).status().throw_if_error();
  return bytes;
}

// Makes datasets of all filters, some with gaps, one with a tree of two levels.
Bytes sound_file() {
  auto driver = std::make_shared<stria::storage::MemoryDriver>();
  const auto session = stria::file::WriteSession::create(environment_of(driver), kPath, {}).value();
  const stria::DatasetOptions kinds[] = {
      {.chunk = {4, 5}, .filters = {.shuffle = true, .deflate = true}},
      {.chunk = {3, 20}, .filters = {.shuffle = true, .zstd = true, .fletcher32 = true}, .fill_value = 2.5},
      {.chunk = {1, 2}, .filters = {.fletcher32 = true}},
      {.chunk = {5, 7}},
      {.chunk = {4, 20}, .filters = {.deflate = true, .scale_offset = true}, .fill_value = 3},
      {.chunk = {6, 10}, .filters = {.zfp_absolute = 0.5}},
      {.chunk = {6, 10}, .filters = {.zfp_reversible = true}},
      {.chunk = {6, 10}, .filters = {.zfp_rate = 8}}};
  std::vector<double> values(9 * 20);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i % 7);
  }
  for (const stria::DatasetOptions& options : kinds) {
    if (options.filters.zfp() && !stria::container::ZfpCodec::available().ok()) {
      continue;
    }
    stria::container::DatasetSpec spec;
    if (options.filters.scale_offset) {
      spec.element = stria::container::ElementSpec::of_number(stria::ElementType::kInt32);
    }
    spec.path = "d" + std::to_string(session->file().catalog.datasets().size());
    spec.dims = {12, 20};
    const int number = stria::file::create_dataset(*session, spec, options).value();
    session->record(number, {{2, 0}, {9, 20}}, stria::Memory(values.data(), 9 * 20)).throw_if_error();
  }
  session->commit().throw_if_error();
  return content_of(*driver);
}

void read_all(const Bytes& content) {
  auto driver = std::make_shared<stria::storage::MemoryDriver>();
  stria::storage::OpenOptions open;
  open.mode = stria::storage::OpenOptions::Mode::kCreate;
  const stria::storage::WriteSegment segment{0, content.data(), static_cast<int64_t>(content.size())};
  driver->open(kPath, open).value()->write(std::span(&segment, 1)).throw_if_error();
  for (const bool verify : {false, true}) {
    const auto session = stria::file::ReadSession::open(environment_of(driver), kPath, {.hints = {}, .verify = verify});
    if (!session.ok()) {
      return;
    }
    std::vector<double> values(12 * 20);
    for (int i = 0; i < 6; ++i) {
      if (const auto number = (*session)->find("d" + std::to_string(i)); number.ok()) {
        static_cast<void>((*session)->record(*number, {{0, 0}, {12, 20}}, stria::Memory(values.data(), 12 * 20)));
        static_cast<void>((*session)->flush());
      }
    }
    static_cast<void>((*session)->verify());
  }
}

void decode(uint8_t kind, std::span<const std::byte> stored) {
  const stria::container::DatasetSpec spec = stria::fuzzed_chunks(kind);
  Bytes chunk(8 * static_cast<size_t>(spec.chunking->dims[0]));
  static_cast<void>(stria::container::FilterPipeline().decode(spec, stored, 0, chunk));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> input(reinterpret_cast<const std::byte*>(data), size);
  if (input.empty()) {
    return 0;
  }
  if (data[0] % 2 == 0) {
    decode(data[0], input.subspan(1));
    return 0;
  }
  static const Bytes sound = sound_file();
  // libhdf5 reads the headers, which have checksums.
  static const size_t trees = [] {
    const std::string text(reinterpret_cast<const char*>(sound.data()), sound.size());
    return text.find(std::string("TREE\1", 5));
  }();
  Bytes content = sound;
  for (size_t at = 1; at + 3 <= size; at += 3) {
    const size_t place = trees + (static_cast<size_t>(data[at]) << 8 | data[at + 1]);
    if (place < content.size()) {
      content[place] = std::byte{data[at + 2]};
    }
  }
  read_all(content);
  return 0;
}
