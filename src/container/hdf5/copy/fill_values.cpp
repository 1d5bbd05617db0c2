#include "container/hdf5/copy/fill_values.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "container/hdf5/copy/header_block.hpp"
#include "container/hdf5/read/stored/decoder.hpp"
#include "container/hdf5/read/types/element_types.hpp"

namespace stria::container::h5 {

namespace {

constexpr int64_t kOldFillValue = 0x04;
constexpr size_t kFillLengthBytes = 4;

/// Returns the length and the bytes of the value in a message of any version (IV.A.2.e, f); nothing
/// where it has no value, or one of zeros.
std::vector<std::byte> value_in(const HeaderMessage& message) {
  Decoder decoder(message.content);
  bool has_value = true;
  if (is(message, Message::kFillValue)) {
    const int64_t version = decoder.number(1);
    if (version < 3) {
      decoder.take(2);
      has_value = decoder.number(1) != 0 || version < 2;
    } else {
      has_value = (decoder.number(1) & 0x20) != 0;
    }
  } else if (message.type != kOldFillValue) {
    return {};
  }
  const size_t length_at = message.content.size() - decoder.left();
  const auto value = decoder.take(static_cast<size_t>(has_value ? decoder.number(kFillLengthBytes) : 0));
  const bool is_zero = std::all_of(value.begin(), value.end(), [](std::byte byte) { return byte == std::byte{0}; });
  const auto begin = message.content.begin() + static_cast<std::ptrdiff_t>(length_at);
  return is_zero ? std::vector<std::byte>()
                 : std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(kFillLengthBytes + value.size()));
}

/// Returns the value as it is in the new file: a scratch dataset of that name has it as its
/// element.
Result<std::vector<std::byte>> stored_anew(hid_t dataset, hid_t scratch, const std::string& name, TargetFile& target) {
  const Id type(H5Dget_type(dataset));
  const Id creation(H5Dget_create_plist(dataset));
  const Id space(H5Screate(H5S_SCALAR));
  std::vector<std::byte> value(H5Tget_size(type.get()));
  if (H5Pget_fill_value(creation.get(), type.get(), value.data()) < 0) {
    return last_error(ErrorCode::kCorrupted, "its fill value can't be read");
  }
  const Id timeless(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_obj_track_times(timeless.get(), false);
  const Id made(H5Dcreate2(scratch, name.c_str(), type.get(), space.get(), H5P_DEFAULT, timeless.get(), H5P_DEFAULT));
  const bool written = made.valid() && H5Dwrite(made.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.data()) >= 0 &&
                       H5Fflush(made.get(), H5F_SCOPE_LOCAL) >= 0;
  H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, value.data());
  const haddr_t offset = written ? H5Dget_offset(made.get()) : HADDR_UNDEF;
  if (offset == HADDR_UNDEF) {
    return last_error(ErrorCode::kIo, "its fill value can't be written");
  }
  const auto bytes = static_cast<size_t>(H5Dget_storage_size(made.get()));
  std::vector<std::byte> stored(bytes);
  STRIA_RETURN_IF_ERROR(target.read(static_cast<int64_t>(offset), static_cast<int64_t>(bytes), stored.data()));
  return stored;
}

Status write_at(storage::File& file, int64_t offset, std::span<const std::byte> bytes) {
  const storage::WriteSegment segment{offset, bytes.data(), static_cast<int64_t>(bytes.size())};
  return file.write({&segment, 1});
}

}  // namespace

Result<std::vector<HeaderPatch>> renew_fill_values(const CopiedPair& files, const CopiedObjects& objects,
                                                   const MetadataSource& old_bytes, hid_t scratch, TargetFile& target) {
  std::vector<HeaderPatch> patches;
  for (const auto& [address, object] : objects) {
    const Id dataset(object.type == H5I_DATASET ? files.open_old(object.path) : Id());
    const Id type(dataset.valid() ? H5Dget_type(dataset.get()) : H5I_INVALID_HID);
    if (!type.valid() || !holds_pointers(type.get())) {
      continue;
    }
    STRIA_ASSIGN_OR_RETURN(const ObjectMessages header, read_object_header(old_bytes, address));
    for (const HeaderMessage& message : header.messages) {
      std::vector<std::byte> value = value_in(message);
      if (value.empty()) {
        continue;
      }
      const std::string name = "dataset '" + object.path + "'";
      if (H5Tdetect_class(type.get(), H5T_REFERENCE) > 0) {
        return Status(ErrorCode::kUnsupported, name + " has a fill value that can hold references, which would lead nowhere");
      }
      const auto stored = stored_anew(dataset.get(), scratch, "fill value " + std::to_string(patches.size()), target);
      STRIA_RETURN_IF_ERROR(stored.status().with_context(name));
      HeaderPatch patch{.address = object.new_address, .from = std::move(value), .to = {}};
      patch.to.assign(patch.from.begin(), patch.from.begin() + kFillLengthBytes);
      patch.to.insert(patch.to.end(), stored->begin(), stored->end());
      if (patch.to.size() != patch.from.size()) {
        return Status(ErrorCode::kInternal, name + ": its fill value has another length in the new file");
      }
      patches.push_back(std::move(patch));
      break;  // an old message beside a new one has the same value
    }
  }
  return patches;
}

Status apply(const HeaderPatch& patch, storage::File& file, int64_t base) {
  STRIA_ASSIGN_OR_RETURN(HeaderBlock header, read_first_block(file, base + patch.address));
  std::vector<std::byte>& block = header.bytes;
  const auto find = [&](auto begin) { return std::search(begin, block.end(), patch.from.begin(), patch.from.end()); };
  bool found = false;
  for (auto at = find(block.begin()); at != block.end(); at = find(at + static_cast<std::ptrdiff_t>(patch.to.size()))) {
    std::copy(patch.to.begin(), patch.to.end(), at);
    found = true;
  }
  if (!found) {
    return Status(ErrorCode::kInternal, "a header that libhdf5 has copied has lost its fill value");
  }
  header.renew_sum();
  return write_at(file, base + patch.address, header.bytes);
}

}  // namespace stria::container::h5
