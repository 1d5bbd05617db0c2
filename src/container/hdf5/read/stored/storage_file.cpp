#include "container/hdf5/read/stored/storage_file.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace stria::container::h5 {

namespace {

constexpr int64_t kPageBytes = int64_t{64} << 10;
constexpr size_t kPagesMax = 256;

}  // namespace

Status StorageFile::read_through(int64_t offset, int64_t bytes, std::byte* to) {
  const storage::ReadSegment segment{offset, to, bytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t read, file_->read({&segment, 1}));
  if (read < bytes) {
    return Status(ErrorCode::kCorrupted, file_->path() + ": the file is cut short at offset " + std::to_string(offset + read));
  }
  return Status();
}

Result<const std::vector<std::byte>*> StorageFile::page(int64_t index) {
  if (const auto found = pages_.find(index); found != pages_.end()) {
    return &found->second;
  }
  if (pages_.size() >= kPagesMax) {
    pages_.clear();
  }
  const int64_t offset = index * kPageBytes;
  std::vector<std::byte> bytes(static_cast<size_t>(std::min(kPageBytes, file_bytes_ - offset)));
  STRIA_RETURN_IF_ERROR(read_through(offset, static_cast<int64_t>(bytes.size()), bytes.data()));
  return &(pages_[index] = std::move(bytes));
}

Status StorageFile::read(H5FD_mem_t kind, int64_t offset, int64_t bytes, void* to) {
  if (file_ == nullptr) {
    return Status(ErrorCode::kInternal, "libhdf5 read a file that is closed");
  }
  auto* out = static_cast<std::byte*>(to);
  if (offset > file_bytes_ || bytes > file_bytes_ - offset) {
    return Status(ErrorCode::kCorrupted, file_->path() + ": the file ends at " + std::to_string(file_bytes_) +
                                             ", but something of it should be at " + std::to_string(offset));
  }
  if (kind == H5FD_MEM_DRAW || bytes >= kPageBytes) {
    return read_through(offset, bytes, out);
  }
  while (bytes > 0) {
    STRIA_ASSIGN_OR_RETURN(const std::vector<std::byte>* from, page(offset / kPageBytes));
    const int64_t at = offset % kPageBytes;
    const int64_t piece = std::min(bytes, static_cast<int64_t>(from->size()) - at);
    std::memcpy(out, from->data() + at, static_cast<size_t>(piece));
    offset += piece;
    bytes -= piece;
    out += piece;
  }
  return Status();
}

}  // namespace stria::container::h5
