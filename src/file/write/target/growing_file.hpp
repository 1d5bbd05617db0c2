// A file that grows, on rank 0: its handle, the lock that keeps other writers out, and the bytes
// that make valid what was added.
//
// Until those are written the file's content is the old one. Nothing here communicates.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "file/background/unpublished_file.hpp"
#include "storage/driver.hpp"
#include "stria/phases.hpp"
#include "stria/status.hpp"

namespace stria::file {

class GrowingFile final : public UnpublishedFile {
 public:
  /// `path` as the storage knows it.
  GrowingFile(std::shared_ptr<storage::Driver> driver, std::string path);

  /// Opens the file, and keeps out other writers. kAlreadyExists when there is one. Nothing of the
  /// file changes. `given_path` is the name that the program knows.
  Status open(const std::string& given_path);
  storage::File* file() const override { return file_.get(); }
  /// Notes where the file ends for its readers. What lies behind it stays for now.
  void note_end(int64_t old_end) { old_end_ = old_end; }
  /// Clears, before anything is written, what lies behind the end, which would show through where
  /// nothing is put. Where the file is given up it comes back, unless it is larger than 64 MiB.
  Status clear_behind_end();
  /// Keeps the bytes that publish() writes to the file's begin, and those that stand there.
  Status note_switch_over(const std::vector<std::byte>& bytes);
  /// Size, sync, the bytes that make it valid, sync.
  Status publish(int64_t file_bytes, bool sync, PhaseTimes& times) override;
  /// Tells whether what was added is valid, or may be.
  bool is_published() const override { return published_; }
  /// Gives up what was added, unless it is published. Where that fails, the next program that adds
  /// to the file clears it.
  void discard() noexcept override;
  const char* state_after_failure() const override { return file::state_after_failure(true, published_); }

 private:
  Status switch_over(bool sync);
  Status restore();

  std::shared_ptr<storage::Driver> driver_;
  std::string path_;
  std::unique_ptr<storage::File> file_;
  std::unique_ptr<storage::RangeLock> lock_;
  std::vector<std::byte> switch_over_;  // what is written last
  std::vector<std::byte> old_begin_;    // the bytes that stand there
  int64_t old_end_ = 0;
  bool is_begun_ = false;              // something may have been written behind the end
  std::vector<std::byte> behind_end_;  // what was there before
  bool published_ = false;
};

}  // namespace stria::file
