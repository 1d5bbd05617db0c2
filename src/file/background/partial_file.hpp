// The file of a temporary name, on rank 0: its handle, which holds the lock, and the change of the
// name.
//
// Nothing here communicates.
#pragma once

#include <memory>
#include <string>

#include "file/background/unpublished_file.hpp"
#include "storage/driver.hpp"
#include "stria/phases.hpp"
#include "stria/status.hpp"

namespace stria::file {

/// The name under which the file at `path` is written until its commit.
std::string partial_path(const std::string& path);

/// Gives a file that is all written its size, makes it durable if asked, and checks that `name`
/// still means it.
Status complete(storage::Driver& driver, storage::File& file, const std::string& name, int64_t file_bytes, bool sync,
                PhaseTimes& times);

class PartialFile final : public UnpublishedFile {
 public:
  /// `path` is the final name, as the storage knows it.
  PartialFile(std::shared_ptr<storage::Driver> driver, std::string path);

  /// Makes the file, and locks it. `among_others`: in a directory where other users make files;
  /// kPermissionDenied where one of them has the name.
  Status create(const storage::Striping& striping, bool among_others = false);
  storage::File* file() const override { return file_.get(); }
  /// Size, sync, name, sync of the directory.
  Status publish(int64_t file_bytes, bool sync, PhaseTimes& times) override;
  /// Whether the file has its name.
  bool is_published() const override { return published_; }
  /// Removes the file, if its temporary name still means it.
  void discard() noexcept override;
  const char* state_after_failure() const override { return file::state_after_failure(false, published_); }

 private:
  Status settle(bool sync);

  std::shared_ptr<storage::Driver> driver_;
  std::string path_;
  std::string partial_path_;
  std::unique_ptr<storage::File> file_;
  bool published_ = false;
};

}  // namespace stria::file
