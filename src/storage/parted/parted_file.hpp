// A file that is kept in several, as one handle: see part_map.hpp.
//
// Each request is divided among the files that it meets (part_handles.hpp). Between arrays nothing
// is kept: that reads as zeros. Locks, and the size, are those of the master.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "storage/driver.hpp"
#include "storage/parted/part_handles.hpp"
#include "storage/parted/part_map.hpp"

namespace stria::storage {

/// Returns what is left of the master's capabilities. `contended`: several ranks of a node write to
/// a part. `direct`: parts may be written past the page cache.
Capabilities parted_capabilities(Capabilities capabilities, bool contended, bool direct = false);

class PartedFile final : public File {
 public:
  /// Makes a handle beside one on the master, which must outlive it. `map` may get more arrays
  /// meanwhile. Parts are opened for reading, or for reading and writing, as `mode` says.
  PartedFile(File& master, std::shared_ptr<Driver> driver, std::shared_ptr<const PartMap> map, OpenOptions::Mode mode);
  /// Makes a handle that owns the master's.
  PartedFile(std::unique_ptr<File> master, std::shared_ptr<Driver> driver, std::shared_ptr<const PartMap> map,
             OpenOptions::Mode mode);
  /// Stretches of parts that are aligned in their file and in memory are written past the page
  /// cache from now on, through handles of `driver`, where the storage offers that. The rest of a
  /// write goes the usual way.
  void write_past_cache(std::shared_ptr<Driver> driver);
  /// Parts are opened, from now on, as files that nobody else writes to.
  void expect_no_other_writers() { handles_.expect_no_other_writers(); }

  /// Parts are read, from now on, through what `open` returns for their numbers.
  void read_parts_through(PartHandles::Opener open) { handles_.open_through(std::move(open)); }

  const std::string& path() const override { return master_.path(); }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Identity> identity() override { return master_.identity(); }

  Status write(std::span<const WriteSegment> segments) override;
  Result<int64_t> read(std::span<const ReadSegment> segments) override;

  Result<std::unique_ptr<RangeLock>> lock(ByteRange range, LockMode mode) override { return master_.lock(range, mode); }
  Result<std::unique_ptr<RangeLock>> try_lock(ByteRange range, LockMode mode) override { return master_.try_lock(range, mode); }
  Result<bool> is_locked_elsewhere(ByteRange range) override { return master_.is_locked_elsewhere(range); }
  Result<std::unique_ptr<RangeLock>> own() override { return master_.own(); }
  Status refresh(ByteRange range) override;
  Status hand_over(ByteRange range) override;

  Result<int64_t> size() override { return master_.size(); }
  Status resize(int64_t bytes) override { return master_.resize(bytes); }
  Status preallocate(int64_t bytes) override { return master_.preallocate(bytes); }
  Status sync() override;
  Status close() override;

  /// Makes what was written to parts durable if asked, and closes them.
  Status close_parts(bool sync) { return handles_.close(sync); }
  /// Checks that a part of a finished file is there, and has all its bytes. kCorrupted says which
  /// is not.
  Status check_part(int number) { return handles_.at(number).status(); }

 private:
  template <typename Segment>
  using Lists = std::map<int, std::vector<Segment>>;

  template <typename Segment>
  Result<Lists<Segment>> divide(const char* operation, std::span<const Segment> segments) const;
  template <typename Call>
  Status for_each_stretch(const char* operation, ByteRange range, Call&& call);
  Status read_part(int number, const std::vector<ReadSegment>& list);
  Status write_part(int number, const std::vector<WriteSegment>& list);

  std::unique_ptr<File> owned_;
  File& master_;
  Capabilities capabilities_;
  std::shared_ptr<const PartMap> map_;
  OpenOptions::Mode mode_;
  PartHandles handles_;
};

}  // namespace stria::storage
