// The file of a temporary name, on rank 0: its handle, which holds the lock, and the change of the
// name.
//
// Problem: the rename at the end must replace the file that the name means, not a link to it, a
// pipe or a device, and must not change who may read it. Where others may write to the directory,
// they can take the temporary name first, for a link to a file of this user.
// Method: the links of the name are followed before anything is made, so that the temporary name
// lies beside the file that they lead to. The file is made anew, as one that only its owner may
// open if it replaces another, and gets that one's attributes just before its name.
// Nothing here communicates.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "file/background/unpublished_file.hpp"
#include "file/parity/replaced_file.hpp"
#include "storage/driver.hpp"
#include "stria/phases.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// Returns the name under which the file at `path` is written until its commit. Where it would be
/// too long, a number stands for the rest.
std::string partial_path(const std::string& path);

/// Removes a file of a temporary name that a killed program has left: a plain one of this user that
/// no live program has locked. Whether it has.
bool remove_unlocked(storage::Driver& driver, const std::string& path);

/// Gives a file that is all written its size, and makes it durable if asked.
Status complete(storage::File& file, int64_t file_bytes, bool sync, PhaseTimes& times);
/// Checks that `name` still means the open file, as far as the storage can tell.
Status check_name(storage::Driver& driver, storage::File& file, const std::string& name);

class PartialFile final : public UnpublishedFile {
 public:
  /// `path` is the final name, as the storage knows it.
  PartialFile(std::shared_ptr<storage::Driver> driver, std::string path);

  struct Making {
    storage::Striping striping{};
    uint32_t permissions = 0666;  ///< the permissions of a file that replaces none, less the umask
    /// The file lies in a place where other users make files, too: it is this user's alone, and
    /// what has its final name isn't looked at.
    bool is_staged = false;
    bool sole_writer = false;          ///< no other rank of this node
    ReplacedFile::Successor beside{};  ///< what the file has itself
  };

  /// Looks up what the final name means, and goes by that from now on. Nothing changes. Errors as
  /// storage::Driver::find_destination().
  Status find();
  /// Returns the final name, or the one to which its links lead once they are found.
  const std::string& path() const { return path_; }
  /// Makes the file, and locks it. kPermissionDenied where something has the temporary name that
  /// isn't a plain file of this user. \pre it has its temporary name, by find() or
  /// because it is staged
  Status create(const Making& making);
  storage::File* file() const override { return file_.get(); }
  /// Sets the size, syncs, gives the name, and syncs the directory. Parts and parity of the file
  /// that is replaced go then (parity/replaced_file.hpp).
  Status publish(int64_t file_bytes, bool sync, PhaseTimes& times) override;
  /// Tells whether the file has its name.
  bool is_published() const override { return published_; }
  /// Removes the file, if its temporary name still means it.
  void discard() noexcept override;
  const char* state_after_failure() const override { return file::state_after_failure(false, published_); }

 private:
  Status keep_attributes();
  Status settle(bool sync);

  std::shared_ptr<storage::Driver> driver_;
  std::string path_;
  std::string partial_path_;
  std::optional<storage::FileAttributes> replaced_;  // those of the file that has the name
  bool is_staged_ = false;
  ReplacedFile::Successor successor_;
  std::unique_ptr<storage::File> file_;
  bool published_ = false;
};

}  // namespace stria::file
