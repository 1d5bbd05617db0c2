// The handles on the files that together are one (part_map.hpp): a part is opened when it is first
// met, and of parts that are read only so many stay open.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "storage/driver.hpp"
#include "storage/parted/part_map.hpp"

namespace stria::storage {

class PartHandles {
 public:
  using Opener = std::function<Result<std::unique_ptr<File>>(int number)>;

  /// The master must outlive this.
  PartHandles(File& master, std::shared_ptr<Driver> driver, std::shared_ptr<const PartMap> map, OpenOptions::Mode mode);

  /// Makes direct_at() open parts by `driver`.
  void open_past_cache(std::shared_ptr<Driver> driver) { direct_driver_ = std::move(driver); }
  /// Parts are opened, from now on, as files that nobody else writes to.
  void expect_no_other_writers() { sole_writer_ = true; }
  /// Parts are opened, from now on, by what `open` returns for their numbers.
  void open_through(Opener open) { open_ = std::move(open); }

  /// Returns the handle on a part, or on the master.
  Result<File*> at(int number);
  /// Returns the handle past the page cache; null: none is offered.
  File* direct_at(int number);
  /// Makes what was written to parts durable.
  Status sync();
  /// Makes it durable if asked, and closes the parts.
  Status close(bool sync);

 private:
  Result<std::unique_ptr<File>> open(int number);
  Result<bool> has_mark(File& file, int number) const;

  File& master_;
  std::shared_ptr<Driver> driver_;
  std::shared_ptr<const PartMap> map_;
  OpenOptions::Mode mode_;
  bool sole_writer_ = false;
  Opener open_;  // empty: by their paths
  std::map<int, std::unique_ptr<File>> parts_;
  std::shared_ptr<Driver> direct_driver_;              // null: all goes through the page cache
  std::map<int, std::unique_ptr<File>> direct_parts_;  // null where none is offered
};

}  // namespace stria::storage
