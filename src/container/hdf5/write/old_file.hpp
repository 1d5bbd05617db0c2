// Describes what a writer asks of the file that it adds to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "container/hdf5/form/object_messages.hpp"
#include "container/spec.hpp"
#include "stria/status.hpp"

namespace stria::container::h5 {

class OldFile {
 public:
  virtual ~OldFile() = default;
  /// Returns the address of the root group's header.
  virtual int64_t root_address() const = 0;
  virtual Result<ObjectMessages> header(int64_t address) const = 0;
  /// Returns the members of a group, "" for the root. kUnsupported where one of them is a link of a
  /// kind that only other programs know.
  virtual Result<std::vector<GroupMember>> members(const std::string& group) const = 0;
  /// Returns a dataset, with the names of its dimensions.
  virtual Result<DatasetSpec> dataset(const std::string& path) const = 0;
  /// Returns the paths of all datasets.
  virtual Result<std::vector<std::string>> datasets() const = 0;
  /// Returns all references that its objects hold.
  virtual Result<std::vector<HeldReference>> references() const = 0;
  /// Returns the superblock that makes another root group and another end valid.
  virtual std::vector<std::byte> superblock(int64_t file_bytes, int64_t root_address) const = 0;
};

}  // namespace stria::container::h5
