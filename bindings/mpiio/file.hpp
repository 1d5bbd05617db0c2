// An open file of the MPI-IO interface: its state on this rank, opening and closing.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "access/hints.hpp"
#include "comm_pool.hpp"
#include "handlers.hpp"
#include "outcome.hpp"
#include "storage/driver.hpp"
#include "stria/hints.hpp"
#include "trace/file_counters.hpp"
#include "view.hpp"

namespace stria::mpiio {

struct Job;

class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  std::string path;       ///< as the storage knows it
  uint16_t trace_id = 0;  ///< the recorder's number of it
  trace::FileCounters* counters = nullptr;
  int amode = 0;
  MPI_Group group = MPI_GROUP_NULL;
  std::shared_ptr<Channel> channel;
  std::shared_ptr<storage::Driver> driver;
  std::unique_ptr<storage::File> storage;
  /// What the trace was told of the last transfers.
  struct Noted {
    access::Method method = access::Method::kAutomatic;
    std::string reason;
  };
  Noted noted_collective, noted_independent;
  std::mutex noted_mutex;
  bool several_threads = false;  ///< the program may call from several at once
  std::mutex storage_mutex;      ///< one call at a time on `storage`: see hold_storage()
  std::mutex position_mutex;     ///< one at a time at the individual file pointer: see hold_position()
  /// The same file for the thread that works in the background; opened when that has something to do first.
  std::unique_ptr<storage::File> background;
  Hints given;  ///< as the program gave them
  access::ResolvedHints hints;
  std::shared_ptr<const View> view;
  int64_t position = 0;  ///< the individual file pointer: bytes of the view's stream, whole etypes
  bool atomic = false;
  NodeTurn* atomic_turn = nullptr;  ///< of atomic accesses; null: ranks of several nodes lock the file's ranges instead
  Handler handler;
  /// The split collective under way.
  std::shared_ptr<Job> split;
  /// Nonblocking operations that have not ended.
  std::atomic<int> pending{0};

  /// Kept as long as a call to `storage` lasts. The background has its own handle.
  std::unique_lock<std::mutex> hold_storage();
  /// Kept from where `position` is read until it has been moved. Before hold_storage().
  std::unique_lock<std::mutex> hold_position();
  Comm& comm() { return *channel->comm; }
  bool is_readable() const { return (amode & MPI_MODE_WRONLY) == 0; }
  bool is_writable() const { return (amode & MPI_MODE_RDONLY) == 0; }
  bool is_sequential() const { return (amode & MPI_MODE_SEQUENTIAL) != 0; }
  storage::OpenOptions::Mode storage_mode() const;
  /// The bytes that one etype has in the file.
  int64_t etype_bytes() const { return view->etype_bytes(); }
  Outcome size(int64_t& bytes);
};

/// The same outcome on every rank of the file, as agree() in outcome.hpp. Collective: yes.
Outcome agree(File& file, const Outcome& mine);

/// Makes of each value the largest that a rank gives. Collective: yes.
void maximum_of_all(File& file, std::span<int64_t> values);

/// MPI_File_open. Collective over `comm`: yes; the outcome is the same on every rank.
Outcome open_file(MPI_Comm comm, const char* name, int amode, MPI_Info info, std::shared_ptr<File>& made);

/// MPI_File_close, but for the handle. Collective: yes; the outcome is the same on every rank.
Outcome close_file(File& file);

/// Closes without a word and without other ranks: at the end of MPI, files that the program forgot.
void abandon_file(File& file);

/// The recorder's number of the file of that name; 0 when it is null or empty.
uint16_t trace_id_of(const char* name);

/// MPI_File_delete. Local.
Outcome delete_file(const char* name, MPI_Info info);

/// Takes the hints over: those given before stay where the new ones don't name them.
void apply_hints(File& file, const Hints& given);

}  // namespace stria::mpiio
