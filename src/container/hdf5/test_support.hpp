// Holds what the tests of the HDF5 container share: a storage file in memory, temporary files, and
// a writer with the objects of a FLASH checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "container/hdf5/write/writer.hpp"
#include "container/spec.hpp"
#include "storage/driver.hpp"

namespace stria::container::test {

using Bytes = std::vector<std::byte>;

/// A read-only file whose bytes are in memory; reads that touch [fail_at, …) fail with kIo
/// when fail_at >= 0.
class BytesFile final : public storage::File {
 public:
  explicit BytesFile(Bytes bytes) : bytes_(std::move(bytes)) {}

  const std::string& path() const override { return path_; }
  const storage::Capabilities& capabilities() const override { return capabilities_; }
  Status write(std::span<const storage::WriteSegment>) override { return unsupported(); }
  std::unique_ptr<storage::PendingWrite> start_write(std::span<const storage::WriteSegment>) override { return nullptr; }
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override;
  Result<int64_t> size() override { return static_cast<int64_t>(bytes_.size()); }
  Status resize(int64_t) override { return unsupported(); }
  Status preallocate(int64_t) override { return unsupported(); }
  Status sync() override { return unsupported(); }
  Status close() override { return Status(); }

  int64_t fail_at = -1;
  int read_count = 0;

 private:
  static Status unsupported() { return Status(ErrorCode::kUnsupported, "read only"); }

  std::string path_ = "bytes.h5";
  storage::Capabilities capabilities_;
  Bytes bytes_;
};

/// A file of this name in the directory for temporary files. The destructor removes it.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }
  void write(const Bytes& bytes) const;
  Bytes read() const;

 private:
  std::string path_;
};

/// Puts a whole file together: the image, and raw data at their offsets.
Bytes assemble(const SparseImage& image, const std::map<int64_t, Bytes>& raw_data);

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!values.empty()) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

/// The shape of a FLASH checkpoint.
struct FlashShape {
  int variables = 24;
  int64_t blocks = 160;
  int64_t cells = 8;
  int64_t alignment_bytes = 4096;
};

/// Makes a FLASH checkpoint's objects; sets `*places` to the offset of each dataset that
/// isn't in the image.
Status fill_flash(Hdf5Writer& writer, const FlashShape& shape, std::vector<std::pair<DatasetSpec, int64_t>>* places);

}  // namespace stria::container::test
