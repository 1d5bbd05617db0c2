// An object's file in the local file system: its bytes by system calls, and by a mapping that is
// kept for pieces that are short.
//
// The mapping reaches beyond the file's end, where nothing may be touched. It doubles each time, so
// that a growing file is not mapped often.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "base/byte_range.hpp"
#include "base/check.hpp"
#include "server/objects/blocks/guarded_copy.hpp"
#include "stria/status.hpp"

namespace stria::server {

/// A mapping of an object grows by this.
inline constexpr int64_t kMapUnitBytes = int64_t{64} << 20;

/// Thread-safe, provided that nobody cuts the file while others use it.
class ObjectFile {
 public:
  /// Closes the descriptor in the end. `bytes`: how long the file is.
  ObjectFile(std::string path, int descriptor, int64_t bytes)
      : path_(std::move(path)), descriptor_(descriptor), bytes_(bytes) {}
  ObjectFile(const ObjectFile&) = delete;
  ObjectFile& operator=(const ObjectFile&) = delete;
  ~ObjectFile();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  int64_t bytes() const { return bytes_.load(); }

  /// Bytes of the file, zero beyond its end.
  Status get(ByteRange range, std::byte* to) const;
  /// Does the same by the mapping where that can be done. \pre can_map(range.end)
  Status get_mapped(ByteRange range, std::byte* to);
  /// Writes, beyond the end too.
  Status put(ByteRange range, const std::byte* data);
  /// Writes through the mapping. Returns false when a page could not be written; part of it may be
  /// done then. \pre as of get_mapped()
  bool put_mapped(ByteRange range, const std::byte* data);
  /// True when all bytes before `end` lie within the file and its mapping, which is made longer for
  /// that.
  bool can_map(int64_t end);
  /// What use(file's first byte as it is mapped) returns. Meanwhile the mapping stays where it is.
  /// \pre can_map() was true once
  template <typename Use>
  bool with_mapping(const Use& use) {
    const std::shared_lock lock(map_mutex_);
    STRIA_ASSERT(map_ != nullptr, path_);
    return use(map_);
  }

  /// Makes the file as long as that. An error says that this operation failed.
  Status resize(int64_t bytes, const char* operation);
  /// Takes space for so many bytes; the file becomes as long where it is shorter.
  Status reserve(int64_t bytes);
  Status sync() const;
  int64_t modified_ns() const;
  void set_modified(int64_t ns) const;
  /// The client's message names the file and the server; this one the place on the server.
  Status error(const char* operation, int error_number) const;

 private:
  bool map(int64_t end);

  std::string path_;
  int descriptor_;
  std::atomic<int64_t> bytes_;
  std::shared_mutex map_mutex_;  // exclusive while it is mapped anew
  std::byte* map_ = nullptr;
  int64_t map_bytes_ = 0;
};

}  // namespace stria::server
