// The rest of a commit after commit_async() has returned: what this rank still has to write, and on
// rank 0 the file's name.
//
// The session fills it in and gives it to the thread (background.hpp); from then on the session has
// no part in it. It owns its handles. The program's ticket only reads the board.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "file/background/outcome_board.hpp"
#include "file/background/partial_file.hpp"
#include "file/background/staging.hpp"
#include "storage/driver.hpp"

namespace stria::file {

class BackgroundCommit {
 public:
  struct About {
    std::string path;  ///< as the program gave it
    std::string stored_path;
    uint16_t trace_id = 0;
  };
  BackgroundCommit(About about, int64_t staging_limit_bytes) : about_(std::move(about)), staging_(staging_limit_bytes) {}

  // For the session.
  Staging& staging() { return staging_; }
  OutcomeBoard& board() { return board_; }
  /// Rank 0: how the file is to end.
  void set_end(int64_t file_bytes, bool sync) {
    file_bytes_ = file_bytes;
    sync_ = sync;
  }
  /// Takes this rank's handles: rank 0 has `partial`, another rank `opened` or nothing.
  void take_handles(std::shared_ptr<storage::Driver> driver, std::unique_ptr<PartialFile> partial,
                    std::unique_ptr<storage::File> opened) noexcept;

  // For the thread.
  bool is_root() const { return board_.rank() == 0; }
  const std::string& stored_path() const { return about_.stored_path; }
  /// Writes what is staged, and tells the others.
  void write() noexcept;
  enum class Step { kNotYet, kDone, kFailed };
  /// Rank 0: ends the commit if all ranks have written, and tells the others.
  Step try_to_end() noexcept;

  // For the program.
  bool is_done() const { return board_.decision().has_value(); }
  /// Waits until the commit has ended, and returns its outcome, which is the same on every rank.
  Status wait() const;
  /// The outcome; success until the commit has ended.
  Status outcome() const;

  /// Rank 0: says on standard error that the commit has failed, unless the program has heard of it
  /// or STRIA_VERBOSE is 0. Once.
  void tell_if_unheard() const;

 private:
  Status end(const Status& written);

  About about_;
  Staging staging_;
  OutcomeBoard board_;
  int64_t file_bytes_ = 0;
  bool sync_ = true;
  std::shared_ptr<storage::Driver> driver_;
  std::unique_ptr<PartialFile> partial_;
  std::unique_ptr<storage::File> opened_;
  mutable std::atomic<bool> heard_{false};  // by the program
};

}  // namespace stria::file
