// Describes what of a file libhdf5 must not see when it copies it.
//
// Problem: H5Ocopy of release 1.10 crashes on an object that has a heap of attributes of which one
// is text or a list of variable length. And it doesn't know the type that HDF5 2.0 gives the list
// of what a dimension scale is attached to.
// Method: such objects are looked for first. They are copied as if they didn't have these
// attributes, which follow one by one.
// Cost: every header is read.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "container/hdf5/copy/overlaid_file.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Lists objects by the addresses of their headers.
struct Surveyed {
  std::vector<int64_t> heaps_of_text;
  std::vector<int64_t> newer_lists;  ///< scales

  bool empty() const { return heaps_of_text.empty() && newer_lists.empty(); }
};
/// Returns the error of libhdf5 for an object that is there.
Status unreadable_object(const std::string& path);

/// Looks at all objects of an open file. Errors name what can't be read.
Result<Surveyed> survey(hid_t file, const MetadataSource& bytes, int64_t root);

/// Takes what was found out of the headers, in a file whose addresses begin at `base`.
Status hide(const Surveyed& found, OverlaidFile& file, int64_t base);

}  // namespace stria::container::h5
