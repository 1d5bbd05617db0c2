// The calls of libhdf5 that differ between releases, for each from 1.10 on: those that describe
// objects and links, and that which reads a chunk as it is stored.
//
// Problem: until 1.10 an object goes by the address of its header, from 1.12 on by a token, which
// only the native connector turns into an address. Names without a version mean another call from
// release to release, or as libhdf5 was configured.
// Method: the calls and types with their version, in this place only.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace stria::container::h5 {

#if H5_VERSION_GE(1, 12, 0)
using LinkInfo = H5L_info2_t;
#else
using LinkInfo = H5L_info_t;
#endif

struct ObjectPlace {
  H5O_type_t type = H5O_TYPE_UNKNOWN;
  int64_t address = -1;    ///< the address of its header in the file
  unsigned long file = 0;  ///< tells files apart that are open together
};

/// Returns the object itself, or what `name` leads to from there. Nothing where it can't be read.
std::optional<ObjectPlace> place_of(hid_t object, const std::string& name = ".");

/// Returns the address that a hard link holds, or -1.
int64_t address_in(hid_t group, const LinkInfo& link);

/// Nothing where the link can't be read.
std::optional<LinkInfo> link_info(hid_t group, const std::string& name);

/// Shows all links of the group in the order in which they are stored; `visit` as in H5Literate.
herr_t iterate_links(hid_t group, herr_t (*visit)(hid_t, const char*, const LinkInfo*, void*), void* data);

/// Reads the chunk that begins with element `offset`, as its filters have left it. `bytes` is as
/// long as it is stored; `skipped` gets which filters were not applied. False where it can't be
/// read, or has another length.
bool read_stored_chunk(hid_t dataset, std::span<const hsize_t> offset, std::span<std::byte> bytes, uint32_t& skipped);

}  // namespace stria::container::h5
