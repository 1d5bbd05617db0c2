// The checksums of a file that is written anew with the same data.
//
// Problem: the sums of data hold on, but the seal has those of metadata, which have other places.
// Method: the tables are copied with everything else. Only what says something of places is made
// anew: room for a seal first, the seal itself when the new file is complete. Rows that another
// program had added without sums get a record that says so, since the new seal would deny it.
// Cost: a pass over the metadata of the new file.
#pragma once

#include <string>

#include "container/container.hpp"
#include "file/checksums/checksum_index.hpp"
#include "file/define/catalog.hpp"
#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

class CarriedSums {
 public:
  /// Returns what the old file has, whose own sums were compared.
  static Result<CarriedSums> of(storage::File& old_file, const container::Reader& reader);

  bool exist() const { return index_.present; }
  /// Makes the tables of the new file; `without`, if not empty, is a table of Stria's that it
  /// doesn't have. When all else is copied. \pre exist()
  Status renew_tables(container::Copy& copy, const std::string& without);
  /// Writes the seal to the new file, which is complete. \pre renew_tables() has made room for it
  Status seal(storage::File& new_file, const container::CopiedFile& copied) const;

 private:
  Status renew_list(container::Copy& copy, const std::string& without);
  Status renew_slabs(container::Copy& copy);
  Status make_room_for_seal(container::Copy& copy);

  ChecksumIndex index_;
  bool has_new_records_ = false;
  bool has_chunk_sums_ = false;
  int64_t seal_parts_ = 0;  // those that the seal has room for
};

}  // namespace stria::file
