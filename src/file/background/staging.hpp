// Describes what a rank writes, kept in memory until a thread writes it.
//
// Problem: a copy of what was packed costs as much as its packing.
// Method: batches are packed where they stay, in extents of the process's own memory
// (base/staging_pool.hpp). Neighbours in the file that are neighbours in an extent become one
// write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/driver.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Holds what one rank has staged of one file.
class Staging {
 public:
  /// Takes up to `limit_bytes`, less what other commits of the process still hold.
  explicit Staging(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Room for bytes that the next take() only notes. Null where there is not as much in one piece.
  std::byte* room(int64_t bytes) noexcept;
  /// Copies the bytes, unless they are in the room, and keeps them for write_piece(). Returns how
  /// many, from the first: fewer where the limit is reached, or there is no memory. Never throws.
  int64_t take(const storage::WriteSegment& segment) noexcept;
  /// Writes up to so many bytes of what is left, and gives memory back as it goes; all of it after
  /// an error. Returns how many; 0 when nothing was left.
  Result<int64_t> write_piece(storage::File& file, int64_t most_bytes);
  /// Nothing is left to write.
  bool is_written() const { return next_extent_ == extents_.size(); }
  int64_t staged_bytes() const { return staged_bytes_; }
  /// Returns what take() has left to its caller.
  int64_t left_bytes() const { return left_bytes_; }

 private:
  struct Extent {
    std::byte* memory = nullptr;
    int64_t used_bytes = 0;
    std::vector<storage::WriteSegment> segments;
  };

  bool add_extent();
  bool has_extent_for(int64_t bytes) noexcept;
  bool is_in_room(const storage::WriteSegment& segment) const;
  int64_t copy(const storage::WriteSegment& segment);
  static bool goes_on(const Extent& extent, const storage::WriteSegment& segment);
  static void reserve_for(Extent& extent, const storage::WriteSegment& segment);
  static void note(Extent& extent, const storage::WriteSegment& segment);
  void give_back(Extent& extent) noexcept;
  void give_up() noexcept;

  int64_t limit_bytes_;
  int64_t staged_bytes_ = 0;
  int64_t left_bytes_ = 0;
  std::vector<Extent> extents_;
  size_t room_ = 0;         // the extent of the last room
  size_t next_extent_ = 0;  // to be written
  size_t next_segment_ = 0;
};

/// A file whose writes are staged. What the staging doesn't take is written at once. Reads and
/// datatypes are not for it. The file and the staging must outlive it.
class StagedFile final : public storage::File {
 public:
  StagedFile(storage::File& file, Staging& staging);

  const std::string& path() const override { return file_.path(); }
  const storage::Capabilities& capabilities() const override { return capabilities_; }
  Result<storage::Identity> identity() override { return file_.identity(); }
  const storage::File& plain() const override { return file_.plain(); }
  Status write(std::span<const storage::WriteSegment> segments) override;
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override;
  Result<int64_t> size() override { return file_.size(); }
  Status resize(int64_t bytes) override { return file_.resize(bytes); }
  Status preallocate(int64_t bytes) override { return file_.preallocate(bytes); }
  Status sync() override { return file_.sync(); }
  Status close() override { return file_.close(); }

 private:
  storage::File& file_;
  Staging& staging_;
  storage::Capabilities capabilities_;
};

/// Returns what storage can do while its writes are staged: neither datatypes nor direct writes,
/// and no rank waits for another.
storage::Capabilities staged_capabilities(storage::Capabilities capabilities);

}  // namespace stria::file
