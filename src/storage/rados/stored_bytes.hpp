// The bytes of a file in a pool: in which objects they lie, and how many the file has.
//
// Method: data come first, then the size, so that who sees the size finds the data. Objects are
// noted in the header before they are written, so that they are found when the file is removed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/driver.hpp"
#include "storage/rados/header.hpp"
#include "storage/rados/transfer.hpp"

namespace stria::storage {

class StoredBytes {
 public:
  /// `header`: the file's, read a moment ago.
  StoredBytes(std::shared_ptr<const Pool> pool, uint64_t number, const Header& header);

  /// Errors don't name the file. `end`, where the list's bytes end, is positive.
  Status write(std::span<const WriteSegment> segments, int64_t end);
  Result<int64_t> read(std::span<const ReadSegment> segments, int64_t end);
  Result<int64_t> size();
  Status resize(int64_t bytes);

 private:
  /// Reads the header, and keeps what it says.
  Result<Header> header();
  Status reach_for(int64_t end);
  FileObjects objects() const { return {*pool_, number_, object_bytes_}; }

  std::shared_ptr<const Pool> pool_;
  uint64_t number_;
  int64_t object_bytes_;
  /// The file had so many bytes when it was looked at last.
  std::atomic<int64_t> known_bytes_;
  std::atomic<int64_t> known_reach_;
};

}  // namespace stria::storage
