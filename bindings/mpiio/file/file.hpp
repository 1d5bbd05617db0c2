// An open file of the MPI-IO interface: its state on this rank, in parts that each have
// their own rules.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>

#include "access/locks/writers.hpp"
#include "access/plan/hint_files.hpp"
#include "access/request/hints.hpp"
#include "comm/waiting.hpp"
#include "mpiio/file/access_mode.hpp"
#include "mpiio/file/file_pointer.hpp"
#include "mpiio/file/file_trace.hpp"
#include "mpiio/file/handlers.hpp"
#include "mpiio/file/open_storage.hpp"
#include "mpiio/file/under_way.hpp"
#include "mpiio/mpi/outcome.hpp"
#include "mpiio/ranks/comm_pool.hpp"
#include "stria/hints.hpp"

namespace stria::mpiio {

class File {
 public:
  struct Arguments {
    std::shared_ptr<Channel> channel;
    MPI_Comm comm;  ///< the program's
    FileName name;
    AccessMode mode;
    bool several_threads;  ///< the program may call from several at once
    uint16_t trace_id;
  };
  explicit File(const Arguments& arguments);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::string& path() const { return storage_.path(); }
  const AccessMode& mode() const { return mode_; }
  /// The ranks that have the file open together.
  Comm& comm() const { return *channel_->comm; }
  Channel& channel() const { return *channel_; }
  SharedState& shared() const { return *channel_->shared; }
  /// The group of the program's communicator.
  MPI_Group group() const { return group_; }
  OpenStorage& storage() { return storage_; }
  FilePointer& pointer() { return pointer_; }
  const View& view() const { return pointer_.view(); }
  /// The size of one etype in the file.
  int64_t etype_bytes() const { return view().etype_bytes(); }
  FileTrace& trace() { return trace_; }
  const FileTrace& trace() const { return trace_; }
  UnderWay& under_way() { return under_way_; }
  const UnderWay& under_way() const { return under_way_; }
  const access::ResolvedHints& hints() const { return hints_; }
  /// The limits of the hints.
  WaitLimits wait_limits() const {
    return {static_cast<double>(hints_.wait_warning_s), static_cast<double>(hints_.wait_deadline_s)};
  }
  Handler handler() const { return handler_; }
  void set_handler(const Handler& handler) { handler_ = handler; }
  /// How this node's ranks stand to others that write the file.
  access::Writers& writers() { return writers_; }

  /// Reads the hints that files have for this one. Fails, perhaps on this rank alone, when memory
  /// runs out. Collective: yes.
  Outcome read_hint_files();
  /// Adopts hints. Earlier ones stay where the new ones don't name them.
  void apply_hints(const Hints& given);

  /// Settles once the file is open whether its writes are staged. Later hints change nothing.
  /// Collective: yes.
  void agree_on_staging();
  /// Whether collective writes that need not be done yet are staged; the same on every rank.
  bool stages() const { return stages_; }
  /// What this process may stage.
  int64_t staging_limit_bytes() const { return staging_limit_bytes_; }

  bool is_atomic() const { return atomic_; }
  /// The turn of an atomic access; null outside atomic mode, and where ranks of several nodes lock
  /// the file's ranges instead.
  NodeTurn* atomic_turn() const { return atomic_turn_; }
  /// Collective: yes.
  void set_atomic(bool atomic);

  /// Moves the shared file pointer. `before` gets its old place.
  Outcome advance_shared(int64_t bytes, int64_t& before);
  /// Gives the channel back, for the next file that these ranks open.
  void release_channel() { mpiio::release_channel(channel_); }
  /// The same, but keeps nothing of the channel: the last thing that happens to a file
  /// when MPI ends.
  void drop_channel();

 private:
  AccessMode mode_;
  std::shared_ptr<Channel> channel_;
  MPI_Group group_ = MPI_GROUP_NULL;
  OpenStorage storage_;
  access::Writers writers_;
  FilePointer pointer_;
  FileTrace trace_;
  UnderWay under_way_;
  access::FileHints file_hints_;
  Hints given_;  ///< as the program gave them
  access::ResolvedHints hints_;
  bool stages_ = false;
  int64_t staging_limit_bytes_ = 0;
  bool atomic_ = false;
  NodeTurn* atomic_turn_ = nullptr;
  Handler handler_ = default_handler();
};

/// Returns the same outcome on every rank of the file, as agree() in outcome.hpp. Collective: yes.
Outcome agree(File& file, const Outcome& mine);

/// Replaces each value by the largest of all ranks. Collective: yes.
void maximum_of_all(File& file, std::span<int64_t> values);

}  // namespace stria::mpiio
