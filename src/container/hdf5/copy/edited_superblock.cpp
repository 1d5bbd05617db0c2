#include "container/hdf5/copy/edited_superblock.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "container/hdf5/form/format.hpp"
#include "container/hdf5/read/stored/decoder.hpp"

namespace stria::container::h5 {

namespace {

constexpr size_t kSumBytes = 4;
constexpr size_t kCachedBytes = 24;  // bytes of the root group: what it is, 4 zeros, 16 bytes of it
constexpr int64_t kMostSuperblockBytes = 128;

}  // namespace

Result<std::vector<std::byte>> read_at(storage::File& file, int64_t offset, int64_t bytes) {
  std::vector<std::byte> content(static_cast<size_t>(bytes));
  const storage::ReadSegment segment{offset, content.data(), bytes};
  STRIA_ASSIGN_OR_RETURN(const int64_t read, file.read({&segment, 1}));
  content.resize(static_cast<size_t>(read));
  return content;
}

Result<EditedSuperblock> EditedSuperblock::find(storage::File& file) {
  constexpr int64_t kFirstStep = 512;
  STRIA_ASSIGN_OR_RETURN(const int64_t file_bytes, file.size());
  EditedSuperblock found;
  for (int64_t offset = 0; offset < file_bytes; offset = offset == 0 ? kFirstStep : 2 * offset) {
    STRIA_ASSIGN_OR_RETURN(found.bytes_, read_at(file, offset, kMostSuperblockBytes));
    if (Decoder(found.bytes_).is(kSignature)) {
      found.offset_ = offset;
      STRIA_RETURN_IF_ERROR(found.decode(file));
      return found;
    }
  }
  return Status(ErrorCode::kFormat, file.path() + ": not an HDF5 file");
}

Status EditedSuperblock::decode(storage::File& file) {
  Decoder decoder(std::span<const std::byte>(bytes_).subspan(kSignature.size()));
  version_ = decoder.number(1);
  const bool is_new = version_ >= 2;
  decoder.take(is_new ? 0 : 4);
  address_bytes_ = static_cast<size_t>(decoder.number(1));
  size_t size = 0;
  if (is_new) {
    end_at_ = kSignature.size() + 4 + 2 * address_bytes_;
    root_at_ = end_at_ + address_bytes_;
    has_sum_ = true;
    size = root_at_ + address_bytes_ + kSumBytes;
  } else {
    const size_t addresses_at = kSignature.size() + 16 + (version_ == 1 ? 4 : 0);
    end_at_ = addresses_at + 2 * address_bytes_;
    root_at_ = addresses_at + 5 * address_bytes_;
    cached_at_ = root_at_ + address_bytes_;
    size = cached_at_ + kCachedBytes;
  }
  if (version_ > 3 || address_bytes_ < 2 || address_bytes_ > 8 || bytes_.size() < size) {
    return Status(ErrorCode::kCorrupted, file.path() + ": its superblock is cut short or of a newer release");
  }
  bytes_.resize(size);
  return Status();
}

int64_t EditedSuperblock::root() const {
  return Decoder(std::span<const std::byte>(bytes_).subspan(root_at_)).number(address_bytes_);
}

void EditedSuperblock::put(size_t at, int64_t value) {
  for (size_t i = 0; i < address_bytes_; ++i) {
    bytes_[at + i] = static_cast<std::byte>(static_cast<uint64_t>(value) >> (8 * i));
  }
  renew_sum();
}

void EditedSuperblock::set_root(int64_t address) {
  if (cached_at_ != 0) {
    std::fill(bytes_.begin() + static_cast<std::ptrdiff_t>(cached_at_), bytes_.end(), std::byte{0});
  }
  put(root_at_, address);
}

void EditedSuperblock::set_end(int64_t address) {
  put(end_at_, address);
}

void EditedSuperblock::renew_sum() {
  if (has_sum_) {
    const size_t at = bytes_.size() - kSumBytes;
    const uint32_t sum = lookup3(std::span(bytes_).first(at));
    for (size_t i = 0; i < kSumBytes; ++i) {
      bytes_[at + i] = static_cast<std::byte>(sum >> (8 * i));
    }
  }
}

}  // namespace stria::container::h5
