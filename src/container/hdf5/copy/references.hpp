// References in objects that libhdf5 has copied to another file.
//
// Problem: H5Ocopy clears references, and leaves the addresses of old objects in those that are
// part of a list, an array or a record.
// Method: both files are walked together, so that the new address of every object is known. What
// holds references is read from the old file, and written to the new one with new addresses.
// Cost: a walk over all objects; only what holds references is read again.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <map>
#include <string>

#include "container/hdf5/read/libhdf5/library.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Two open files. All of the old one was copied as a group of the new one, whose path is
/// `new_root`.
struct CopiedPair {
  hid_t old_file;
  hid_t new_file;
  std::string new_root;

  Id open_old(const std::string& path) const { return Id(H5Oopen(old_file, path.empty() ? "/" : path.c_str(), H5P_DEFAULT)); }
  Id open_new(const std::string& path) const { return Id(H5Oopen(new_file, (new_root + path).c_str(), H5P_DEFAULT)); }
};

/// An object of the old file, and where it is in the new one.
struct CopiedObject {
  std::string path;  ///< the first by which it was met; of the root group ""
  H5I_type_t type = H5I_BADID;
  int64_t new_address = -1;
};
/// Finds objects by their address in the old file.
using CopiedObjects = std::map<int64_t, CopiedObject>;

/// Finds all objects of both. `old_root` and `new_root` are the addresses of the root group, and of
/// its copy. Errors name what can't be read, or wasn't copied.
Result<CopiedObjects> match_objects(const CopiedPair& files, int64_t old_root, int64_t new_root);

/// Copies all attributes of the old object at the address `of`, whose copy has none, with new
/// values of references.
Status copy_attributes(const CopiedPair& files, const CopiedObjects& objects, int64_t of);

/// Gives all references of the new file their new values. Those to objects that no longer exist
/// become null. kUnsupported names what holds references in another file, or of a newer kind.
Status renew_references(const CopiedPair& files, const CopiedObjects& objects);

}  // namespace stria::container::h5
