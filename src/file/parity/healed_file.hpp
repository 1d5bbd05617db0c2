// A file of a parity set as it was written, whatever has become of it since.
//
// Reads go through the set, so that every byte is compared with its sum, and what is missing or
// wrong is made again on the way. Nothing is written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "file/parity/parity_set.hpp"
#include "storage/driver.hpp"

namespace stria::file {

class HealedFile final : public storage::File {
 public:
  /// `name` is that of a member's file, as the head has it; `path` where that lies.
  HealedFile(std::shared_ptr<ParitySet> set, const std::string& name, std::string path);

  const std::string& path() const override { return path_; }
  const storage::Capabilities& capabilities() const override { return capabilities_; }
  Result<storage::Identity> identity() override;
  Status write(std::span<const storage::WriteSegment> segments) override;
  Result<int64_t> read(std::span<const storage::ReadSegment> segments) override;
  Result<int64_t> size() override { return bytes_; }
  Status resize(int64_t bytes) override;
  Status preallocate(int64_t bytes) override;
  Status sync() override { return Status(); }
  Status close() override { return Status(); }

 private:
  struct Unit {
    int64_t stripe = -1;
    int member = -1;
    bool operator==(const Unit&) const = default;
  };
  Status no_writing() const;
  /// Copies the bytes from `offset` on that lie in one unit; returns how many.
  Result<int64_t> read_in_unit(const storage::ReadSegment& segment);

  std::shared_ptr<ParitySet> set_;
  std::string path_;
  std::vector<int> members_;  // by where they begin
  int64_t bytes_ = 0;
  storage::Capabilities capabilities_;
  std::vector<std::byte> content_;  // the content of the unit that was read last
  Unit unit_;
};

}  // namespace stria::file
