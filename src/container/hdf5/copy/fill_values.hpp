// Fill values of variable length in datasets that libhdf5 has copied to another file.
//
// Problem: such a value lies in a heap, and H5Ocopy leaves its place in the old file's heap in the
// header of the new dataset.
// Method: a scratch dataset of the new file gets the value as its element. What it then holds
// is written to the header in place of the old bytes, when libhdf5 has closed the file.
// Cost: none for files that have no such value.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "container/hdf5/copy/references.hpp"
#include "container/hdf5/copy/target_file.hpp"
#include "container/hdf5/read/stored/object_header.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

/// Holds what a new header gets wherever it has the bytes `from`: a value behind its length.
struct HeaderPatch {
  int64_t address = 0;
  std::vector<std::byte> from;
  std::vector<std::byte> to;  ///< bytes of the same length
};

/// Renews the patches of all such fill values. Scratch datasets are made in the group `scratch` of
/// the new file. kUnsupported names a dataset that has a reference as its fill value.
Result<std::vector<HeaderPatch>> renew_fill_values(const CopiedPair& files, const CopiedObjects& objects,
                                                   const MetadataSource& old_bytes, hid_t scratch, TargetFile& target);

/// Writes one to the closed file, whose addresses begin at `base`.
Status apply(const HeaderPatch& patch, storage::File& file, int64_t base);

}  // namespace stria::container::h5
