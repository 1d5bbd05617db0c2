#include "mpiio/calls/opening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/plan/planner.hpp"
#include "access/request/hints.hpp"
#include "base/hash.hpp"
#include "comm/mpi/trace_join.hpp"
#include "mpiio/background/jobs.hpp"
#include "mpiio/file/handles.hpp"
#include "mpiio/file/info.hpp"
#include "mpiio/file/messages.hpp"
#include "mpiio/trace/call_span.hpp"
#include "mpiio/transfer/small_access.hpp"
#include "storage/path.hpp"
#include "storage/registry/registry.hpp"
#include "trace/record/recorder.hpp"

namespace stria::mpiio {

namespace {

Outcome check_open(const Admission& admission, const Outcome& local) {
  if (!local.ok()) {
    return local;
  }
  if (!admission.valid) {
    return {MPI_ERR_ARG, "another rank's arguments can't be used"};
  }
  if (!admission.same_amode) {
    return {MPI_ERR_NOT_SAME, "the ranks open with different access modes"};
  }
  return {};
}

Outcome set_first_positions(File& file) {
  int64_t position = 0;
  if (file.mode().appends()) {
    STRIA_MPIIO_RETURN_IF_ERROR(file.storage().size(position));
  }
  file.pointer().move_to(position);
  if (file.comm().rank() == 0) {
    file.shared().begin(position);
  }
  if (file.comm().node_rank() == 0) {
    file.shared().begin_on_node();
  }
  return {};
}

// Returns the number of the file that rank 0 has opened, for ranks of other nodes, which may
// remember another file by that name; else 0. Collective: yes.
uint64_t number_at_rank_0(File& file) {
  if (!file.shared().has_several_nodes()) {
    return 0;
  }
  uint64_t number = file.comm().rank() == 0 ? file.storage().identity().number : 0;
  file.comm().broadcast(std::as_writable_bytes(std::span(&number, 1)), 0);
  const auto nodes = file.comm().node_of_rank();
  return nodes[static_cast<size_t>(file.comm().rank())] == 0 ? 0 : number;
}

// Rank 0 comes first, because it may create the file; the others follow if that succeeded. Hints
// and environment, and so the driver, may differ between ranks. `before`: what this rank met until
// here.
Outcome open_on_channel(File& file, const Outcome& before) {
  const bool first = file.comm().rank() == 0;
  OpenStorage& storage = file.storage();
  Outcome outcome = before.ok() ? storage.choose_driver(file.hints().driver, file.comm().rank()) : before;
  if (outcome.ok() && first) {
    outcome = storage.open_or_create(access::striping_of(file.hints()));
  }
  STRIA_MPIIO_RETURN_IF_ERROR(agree(file, outcome));
  const uint64_t expected_number = number_at_rank_0(file);
  outcome = first ? Outcome() : storage.open(expected_number);
  outcome = agree(file, outcome.ok() ? set_first_positions(file) : outcome);
  if (!outcome.ok()) {
    storage.drop();
    return outcome;
  }
  file.agree_on_staging();
  begin_to_gather(file);
  return outcome;
}

// Returns the outcome of an open where the ranks' names differ, which may still mean one file.
// Collective: yes.
Outcome compare_names(File& file, const Outcome& opened) {
  Comm& comm = file.comm();
  const auto bytes = std::as_bytes(std::span(file.path()));
  std::vector<std::byte> name_at_0(bytes.begin(), bytes.end());
  broadcast_bytes(comm, name_at_0, 0);
  const storage::Identity mine = opened.ok() ? file.storage().identity() : storage::Identity();
  storage::Identity at_0 = mine;
  comm.broadcast(std::as_writable_bytes(std::span(&at_0, 1)), 0);
  const auto nodes = comm.node_of_rank();
  if (nodes[static_cast<size_t>(comm.rank())] != nodes[0]) {
    at_0.device = mine.device;  // each node counts devices by itself
  }
  Outcome outcome;
  if (!std::ranges::equal(name_at_0, bytes) && (!opened.ok() || mine != at_0)) {
    const std::string names = fmt::format("rank 0 opens '{}', rank {} '{}'",
                                          std::string_view(reinterpret_cast<const char*>(name_at_0.data()), name_at_0.size()),
                                          comm.rank(), file.path());
    outcome = opened.ok() ? Outcome(MPI_ERR_NOT_SAME, "the ranks open different files: " + names)
                          : Outcome(opened.error_class(), fmt::format("{}: {}", names, opened.system_words()));
  }
  outcome = agree(file, outcome);
  if (!outcome.ok()) {
    file.storage().drop();
  }
  return outcome.ok() ? opened : outcome;
}

// Ranks of other nodes may not know yet how the last operations went, and this rank doesn't wait
// for them. So rank 0 goes on answering.
void keep_answering(File& file) {
  static auto* kept = new std::vector<std::shared_ptr<SharedState>>;
  if (file.shared().nodes() != nullptr && file.comm().rank() == 0) {
    kept->push_back(file.channel().shared);
  }
}

// Closes silently and without other ranks.
void abandon_file(File& file) {
  wait_for_jobs(file);
  if (const Outcome failure = file.under_way().take_failure(); !failure.ok() && !is_silent()) {
    say(fmt::format("error: '{}': {}", file.path(), failure.message()));
  }
  keep_answering(file);
  file.under_way().take_split().reset();
  file.writers().retire();
  if (file.mode().deletes_on_close() && file.comm().rank() == 0) {
    static_cast<void>(file.storage().remove_name().ok());
  }
  file.storage().drop();
  file.pointer().set_view(std::make_shared<View>());
  file.drop_channel();
}

// Closes files that the program forgot, at the end of MPI.
void close_all() {
  for (const auto& file : open_files()) {
    abandon_file(*file);
    remove_file(*file);
  }
  end_jobs();
}

uint64_t hash_of_name(const char* name) {
  const std::string path = storage::absolute_path(FileName(name).path);
  return hash_bytes(std::as_bytes(std::span(path)));
}

// Finds out whether the ranks can open a file together, on `channel`; null when they have none.
Outcome admit(MPI_Comm comm, const char* name, int amode, std::shared_ptr<Channel>& channel, bool& same_name) {
  int is_inter = 0;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_test_inter(comm, &is_inter);
  }
  if (comm == MPI_COMM_NULL || is_inter != 0) {
    return {MPI_ERR_COMM, "a file is opened on an intracommunicator"};
  }
  Outcome local = AccessMode(amode).check();
  if (local.ok() && (name == nullptr || *name == '\0')) {
    local = {MPI_ERR_BAD_FILE, "the file's name is empty"};
  }
  at_mpi_end(close_all);
  Admission admission;
  admission.valid = local.ok();
  admission.amode = amode;
  admission.name_hash = local.ok() ? hash_of_name(name) : 0;
  STRIA_ASSIGN_OR_RETURN(channel, acquire_channel(comm, admission));
  same_name = admission.same_name;
  STRIA_MPIIO_RETURN_IF_ERROR(check_open(admission, local));
  return join_trace(channel->comm);
}

// Says what STRIA_VERBOSE asks for.
void present(const File& file) {
  if (!speaks_for(file.comm())) {
    return;
  }
  introduce();
  if (const Status& reach = file.shared().reach(); !reach.ok()) {
    say(reach.message() + ": no shared file pointers; nonblocking collective calls don't tell of other nodes' failures");
  }
}

bool may_call_from_several_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

// Other ranks of the node may still write under a standing that this rank's handle holds for all.
void retire(File& file) {
  file.writers().leave();
  for (int attempt = 0; !file.writers().may_retire(); ++attempt) {
    file.comm().pause(attempt);
  }
  file.writers().retire();
}

}  // namespace

Outcome open_file(MPI_Comm comm, const char* name, int amode, MPI_Info info, std::shared_ptr<File>& made) {
  std::shared_ptr<Channel> channel;
  const CallNote note("MPI_File_open", name == nullptr ? "" : name);
  const OrderingCall orders;  // it may be another handle of a file that is open
  bool same_name = true;
  Outcome outcome = admit(comm, name, amode, channel, same_name);
  // The span begins here: a trace that begins with this call first compares the ranks' clocks.
  const uint16_t trace_id = trace_id_of(name);
  const CallSpan span("MPI_File_open", trace_id);
  if (outcome.ok()) {
    auto file = std::make_shared<File>(
        File::Arguments{channel, comm, FileName(name), AccessMode(amode), may_call_from_several_threads(), trace_id});
    present(*file);
    outcome = file->hints_in_force().read_files(*file);
    file->hints_in_force().apply(*file, hints_of(info));
    outcome = open_on_channel(*file, outcome);
    outcome = same_name ? outcome : compare_names(*file, outcome);
    if (outcome.ok()) {
      made = std::move(file);
      return {};
    }
  }
  if (channel != nullptr) {
    release_channel(channel);
  }
  return outcome;
}

Outcome close_file(File& file) {
  trace::Recorder::instance().flush_to_file();
  wait_for_jobs(file);
  retire(file);
  Outcome outcome = file.under_way().take_failure();
  const Outcome closed_background = file.storage().close_background();
  outcome = outcome.ok() ? closed_background : outcome;
  const bool deletes = file.mode().deletes_on_close();
  const bool closes_last = deletes && file.comm().rank() == 0;
  const auto close_storage = [&] {
    const Outcome closed = file.storage().close();
    outcome = outcome.ok() ? closed : outcome;
  };
  if (!closes_last) {
    close_storage();
  }
  outcome = agree(file, outcome);
  if (deletes) {
    Outcome removed;
    if (closes_last) {
      removed = file.storage().remove_name();
      close_storage();
      removed = removed.ok() ? outcome : removed;
    }
    removed = agree(file, removed);
    outcome = outcome.ok() ? removed : outcome;
  }
  file.release_channel();
  return outcome;
}

uint16_t trace_id_of(const char* name) {
  return name == nullptr || *name == '\0' ? uint16_t{0} : trace::Recorder::instance().file(FileName(name).path);
}

Outcome delete_file(const char* name, MPI_Info info) {
  if (name == nullptr || *name == '\0') {
    return {MPI_ERR_BAD_FILE, "the file's name is empty"};
  }
  std::vector<std::string> warnings;
  const auto hints = access::resolve_hints(with_environment(hints_of(info), {}, warnings), warnings);
  STRIA_ASSIGN_OR_RETURN(auto driver, storage::make_driver(hints.driver == "memory" ? "posix" : hints.driver));
  return driver->remove(FileName(name).path);
}

}  // namespace stria::mpiio
