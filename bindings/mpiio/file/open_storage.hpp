// A file in the storage, open on this rank: one handle for the calls of the program, another for
// the thread in the background.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/check.hpp"
#include "mpiio/file/access_mode.hpp"
#include "mpiio/file/file_name.hpp"
#include "mpiio/file/gathered_accesses.hpp"
#include "mpiio/mpi/outcome.hpp"
#include "storage/driver.hpp"

namespace stria::mpiio {

class OpenStorage {
 public:
  /// `several_threads`: the program may call from several at once. `sole_writer`: no other rank has
  /// it open with this one.
  OpenStorage(const FileName& name, AccessMode mode, bool several_threads, bool sole_writer);
  OpenStorage(const OpenStorage&) = delete;
  OpenStorage& operator=(const OpenStorage&) = delete;

  /// The path begins at the root, because the program may leave its directory.
  const std::string& path() const { return path_; }
  bool is_open() const { return handle_ != nullptr; }

  /// Must be called before anything is opened.
  Outcome choose_driver(const std::string& name, int rank);
  /// `expected_number`: the number of the file that other ranks have opened; 0: any
  /// file of that name.
  Outcome open(uint64_t expected_number = 0);
  /// The rank that creates the file calls this. An existing file is not cut, and one that appears
  /// meanwhile is accepted.
  Outcome open_or_create(const storage::Striping& striping);

  /// The handle of the program's calls, one at a time: kept as long as such a call lasts.
  /// \pre is_open()
  std::unique_lock<std::mutex> hold() {
    STRIA_ASSERT(is_open(), path_);
    return several_threads_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
  }
  /// What small accesses have kept is settled first.
  storage::File& handle() {
    gathered_.settle();
    return *handle_;
  }
  /// Returns what it can do; the handle need not be held. \pre is_open()
  const storage::Capabilities& capabilities() const {
    STRIA_ASSERT(is_open(), path_);
    return handle_->capabilities();
  }

  /// Small accesses that are gathered, for the program's calls.
  GatheredAccesses& gathered() { return gathered_; }
  /// Returns the handle, and leaves what is gathered alone: the code that gathers takes it.
  storage::File& unsettled_handle() { return *handle_; }

  /// Returns the handle of the background thread, opened at the first call; null where it can't be
  /// opened. Any thread.
  storage::File* background();
  /// Gives the file's size. Takes its turn with the handle.
  Outcome size(int64_t& bytes);
  /// Returns what tells this file from others; zeros where that is unknown. \pre is_open()
  storage::Identity identity();

  Outcome close_background();
  Outcome close();
  /// Closes both handles, whatever the outcome.
  void drop();
  /// Removes the name where it still means this file. It is no error if the name is already gone.
  /// \pre is_open(), because otherwise another file could get its identity
  Outcome remove_name();

 private:
  Outcome open_as(const std::string& path, const storage::OpenOptions& options);
  /// Wraps what the driver opened, so that nodes see each other's bytes.
  std::unique_ptr<storage::File> for_all_nodes(std::unique_ptr<storage::File> opened) const;

  std::string path_;
  bool named_nfs_;
  AccessMode mode_;
  bool several_threads_;
  bool sole_writer_;
  GatheredAccesses gathered_;
  std::shared_ptr<storage::Driver> driver_;
  std::unique_ptr<storage::File> handle_;
  std::mutex mutex_;
  std::unique_ptr<storage::File> background_;
  std::mutex background_mutex_;  // while it is opened
};

}  // namespace stria::mpiio
