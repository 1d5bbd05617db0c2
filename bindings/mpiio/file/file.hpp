// An open file of the MPI-IO interface: its state on this rank, in parts that each have
// their own rules.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>

#include "access/request/hints.hpp"
#include "access/writers/writers.hpp"
#include "mpiio/file/access_mode.hpp"
#include "mpiio/file/atomic_mode.hpp"
#include "mpiio/file/file_pointer.hpp"
#include "mpiio/file/file_trace.hpp"
#include "mpiio/file/handlers.hpp"
#include "mpiio/file/hints_in_force.hpp"
#include "mpiio/file/open_storage.hpp"
#include "mpiio/file/under_way.hpp"
#include "mpiio/mpi/outcome.hpp"
#include "mpiio/ranks/comm_pool.hpp"

namespace stria::mpiio {

/// Says whether collective writes that need not be done yet are staged.
struct Staging {
  bool is_on = false;
  int64_t limit_bytes = 0;  ///< what this process may stage
};

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
  /// Returns the ranks that have the file open together.
  Comm& comm() const { return *channel_->comm; }
  Channel& channel() const { return *channel_; }
  SharedState& shared() const { return *channel_->shared; }
  /// Returns the group of the program's communicator.
  MPI_Group group() const { return group_; }
  OpenStorage& storage() { return storage_; }
  FilePointer& pointer() { return pointer_; }
  const View& view() const { return pointer_.view(); }
  /// Returns the size of one etype in the file.
  int64_t etype_bytes() const { return view().etype_bytes(); }
  FileTrace& trace() { return trace_; }
  const FileTrace& trace() const { return trace_; }
  UnderWay& under_way() { return under_way_; }
  const UnderWay& under_way() const { return under_way_; }
  const access::ResolvedHints& hints() const { return hints_in_force_.resolved(); }
  HintsInForce& hints_in_force() { return hints_in_force_; }
  Handler handler() const { return handler_; }
  void set_handler(const Handler& handler) { handler_ = handler; }
  /// Returns how this node's ranks stand to others that write the file.
  access::Writers& writers() { return writers_; }

  /// Settles once the file is open whether its writes are staged. Later hints change nothing.
  /// Collective: yes.
  void agree_on_staging();
  /// It is the same on every rank but for the limit.
  const Staging& staging() const { return staging_; }

  const AtomicMode& atomic_mode() const { return atomic_mode_; }
  /// Sets atomic mode. Collective: yes.
  void set_atomic(bool atomic) { atomic_mode_.set(atomic, shared(), comm()); }

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
  HintsInForce hints_in_force_;
  Staging staging_;
  AtomicMode atomic_mode_;
  Handler handler_ = default_handler();
};

/// Moves the file's shared pointer. `before` gets its old place.
Outcome advance_shared(File& file, int64_t bytes, int64_t& before);

/// Returns the same outcome on every rank of the file, as agree() in outcome.hpp. Collective: yes.
Outcome agree(File& file, const Outcome& mine);

/// Replaces each value by the largest of all ranks. Collective: yes.
void maximum_of_all(File& file, std::span<int64_t> values);

}  // namespace stria::mpiio
