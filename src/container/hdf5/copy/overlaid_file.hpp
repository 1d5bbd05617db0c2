// A file that is read as if some of its bytes were others.
//
// Problem: libhdf5 copies an object as its header says, and a header may say something that is not
// to be copied: that data lie in other files.
// Method: the bytes of such headers are replaced on their way to libhdf5. The file stays as it is.
// Cost: a look into a sorted list for each read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "storage/driver.hpp"

namespace stria::container::h5 {

/// The file can only be read.
class OverlaidFile final : public storage::File {
 public:
  /// `file` must outlive this. `bytes`: the size that this file shall have. What `file` lacks reads
  /// as zeros.
  OverlaidFile(storage::File& file, int64_t bytes) : file_(file), bytes_(bytes) {}

  /// Replaces the bytes from `offset` on. \pre they don't overlap others that are replaced
  void put(int64_t offset, std::vector<std::byte> bytes) {
    const auto next = pieces_.lower_bound(offset);
    STRIA_ASSERT(next == pieces_.end() || offset + static_cast<int64_t>(bytes.size()) <= next->first, offset, bytes.size());
    pieces_[offset] = std::move(bytes);
  }

  const std::string& path() const override { return file_.path(); }
  const storage::Capabilities& capabilities() const override { return file_.capabilities(); }
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override;
  Result<int64_t> size() override { return bytes_; }
  Status write(std::span<const storage::WriteSegment>) override { return only_read(); }
  Status resize(int64_t) override { return only_read(); }
  Status preallocate(int64_t) override { return only_read(); }
  Status sync() override { return only_read(); }
  Status close() override { return Status(); }

 private:
  Status only_read() const { return Status(ErrorCode::kInternal, path() + ": it is open for reading only"); }
  void cover(const storage::ReadSegment& segment) const;

  storage::File& file_;
  int64_t bytes_;
  std::map<int64_t, std::vector<std::byte>> pieces_;
};

}  // namespace stria::container::h5
