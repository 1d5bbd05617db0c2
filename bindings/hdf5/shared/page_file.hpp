// A file on tmpfs that is open a second time, to write whole pages into it (page_inserter.hpp):
// ranks that write one file then don't wait for each other.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/byte_range.hpp"
#include "storage/posix/handle/open_descriptor.hpp"
#include "storage/posix/handle/posix_transfers.hpp"

namespace stria::hdf5 {

class PageFile {
 public:
  /// Null where the name is none of a plain file on tmpfs, or the system lets this process insert
  /// no pages.
  static std::unique_ptr<PageFile> open(const std::string& name);

  /// False where not all bytes could be written. Thread-safe.
  bool write(ByteRange place, const std::byte* bytes);

 private:
  PageFile(const std::string& name, int descriptor);

  storage::OpenDescriptor opened_;
  storage::PosixTransfers transfers_{opened_};
};

}  // namespace stria::hdf5
