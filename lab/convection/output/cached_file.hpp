// A file of raw bytes behind a cache, as Chameleon's I/O library wrote it: what is appended is
// written when the cache is full.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stria/status.hpp"

namespace stria::convection {

/// Says how many writes of each size were made.
using WriteSizes = std::map<int64_t, int64_t>;

class CachedFile {
 public:
  /// Makes the file. Errors show at the next flush() or close(). `sizes` must outlive the file.
  CachedFile(std::string path, int64_t cache_bytes, WriteSizes& sizes);
  ~CachedFile();
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;

  void append(const void* data, int64_t bytes);
  void flush();
  Status close();
  const Status& status() const { return status_; }

 private:
  std::string path_;
  size_t cache_bytes_;
  WriteSizes& sizes_;
  std::vector<std::byte> cache_;
  int file_ = -1;
  Status status_;
};

}  // namespace stria::convection
