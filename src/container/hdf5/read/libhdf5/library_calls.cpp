#include "container/hdf5/read/libhdf5/library_calls.hpp"

namespace stria::container::h5 {

#if H5_VERSION_GE(1, 12, 0)

namespace {

int64_t address_of(hid_t location, const H5O_token_t& token) {
  haddr_t address = HADDR_UNDEF;
  return H5VLnative_token_to_addr(location, token, &address) < 0 ? -1 : static_cast<int64_t>(address);
}

}  // namespace

std::optional<ObjectPlace> place_of(hid_t object, const std::string& name) {
  H5O_info2_t info;
  if (H5Oget_info_by_name3(object, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
    return std::nullopt;
  }
  return ObjectPlace{.type = info.type, .address = address_of(object, info.token), .file = info.fileno};
}

int64_t address_in(hid_t group, const LinkInfo& link) {
  return link.type == H5L_TYPE_HARD ? address_of(group, link.u.token) : -1;
}

std::optional<LinkInfo> link_info(hid_t group, const std::string& name) {
  LinkInfo info;
  return H5Lget_info2(group, name.c_str(), &info, H5P_DEFAULT) < 0 ? std::nullopt : std::optional<LinkInfo>(info);
}

herr_t iterate_links(hid_t group, herr_t (*visit)(hid_t, const char*, const LinkInfo*, void*), void* data) {
  return H5Literate2(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, data);
}

#else

std::optional<ObjectPlace> place_of(hid_t object, const std::string& name) {
  H5O_info_t info;
  if (H5Oget_info_by_name2(object, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
    return std::nullopt;
  }
  return ObjectPlace{.type = info.type, .address = static_cast<int64_t>(info.addr), .file = info.fileno};
}

int64_t address_in(hid_t, const LinkInfo& link) {
  return link.type == H5L_TYPE_HARD ? static_cast<int64_t>(link.u.address) : -1;
}

std::optional<LinkInfo> link_info(hid_t group, const std::string& name) {
  LinkInfo info;
  return H5Lget_info(group, name.c_str(), &info, H5P_DEFAULT) < 0 ? std::nullopt : std::optional<LinkInfo>(info);
}

herr_t iterate_links(hid_t group, herr_t (*visit)(hid_t, const char*, const LinkInfo*, void*), void* data) {
  return H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, data);
}

#endif

bool read_stored_chunk(hid_t dataset, std::span<const hsize_t> offset, std::span<std::byte> bytes, uint32_t& skipped) {
#if H5_VERSION_GE(2, 0, 0)
  size_t stored_bytes = bytes.size();  // what is longer isn't read
  return H5Dread_chunk2(dataset, H5P_DEFAULT, offset.data(), &skipped, bytes.data(), &stored_bytes) >= 0 &&
         stored_bytes == bytes.size();
#else
  return H5Dread_chunk(dataset, H5P_DEFAULT, offset.data(), &skipped, bytes.data()) >= 0;
#endif
}

}  // namespace stria::container::h5
