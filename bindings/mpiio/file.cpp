#include "file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <set>
#include <string_view>

#include "access/aggregator_places.hpp"
#include "access/transfer_facts.hpp"
#include "call_span.hpp"
#include "comm/mpi/trace_join.hpp"
#include "handles.hpp"
#include "info.hpp"
#include "jobs.hpp"
#include "storage/registry.hpp"
#include "trace/recorder.hpp"
#include "trace/span.hpp"

namespace stria::mpiio {

namespace {

using Mode = storage::OpenOptions::Mode;

// ROMIO lets programs name the kind of file system before the path; which one it is makes no difference here.
std::string without_prefix(std::string_view name) {
  constexpr std::array<std::string_view, 11> kPrefixes{
      "ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "pvfs2:", "panfs:", "bgl:", "testfs:", "daos:", "gridftp:"};
  for (std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) {
      return std::string(name.substr(prefix.size()));
    }
  }
  return std::string(name);
}

Outcome check_amode(int amode) {
  const int access = amode & (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR);
  if (access != MPI_MODE_RDONLY && access != MPI_MODE_WRONLY && access != MPI_MODE_RDWR) {
    return {MPI_ERR_AMODE, "open with exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR"};
  }
  if (access == MPI_MODE_RDONLY && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0) {
    return {MPI_ERR_AMODE, "MPI_MODE_CREATE and MPI_MODE_EXCL don't go with MPI_MODE_RDONLY"};
  }
  if (access == MPI_MODE_RDWR && (amode & MPI_MODE_SEQUENTIAL) != 0) {
    return {MPI_ERR_AMODE, "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR"};
  }
  return {};
}

// One rank speaks for a file; of files that each rank opens by itself, the first rank of the program.
bool speaks(File& file) {
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  return is_verbose() && file.comm().rank() == 0 && (file.comm().size() > 1 || world_rank == 0);
}

// Says each sentence once, and only when asked to.
void say(const std::string& sentence) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::lock_guard lock(mutex);
  if (said.insert(sentence).second) {
    std::fprintf(stderr, "stria: %s\n", sentence.c_str());
  }
}

void introduce() {
#if defined(OPEN_MPI)
  say("MPI-IO is done by libstria_mpiio " STRIA_VERSION " (Open MPI)");
#else
  say("MPI-IO is done by libstria_mpiio " STRIA_VERSION " (MPICH)");
#endif
}

Outcome open_storage(File& file, Mode mode) {
  storage::OpenOptions options;
  options.mode = mode;
  auto opened = file.driver->open(file.path, options);
  STRIA_MPIIO_RETURN_IF_ERROR(opened.status());
  file.storage = std::move(*opened);
  return {};
}

// The rank that creates: a file that is there is not cut, and one that appears meanwhile is as good.
Outcome open_or_create(File& file) {
  if ((file.amode & MPI_MODE_EXCL) != 0 && (file.amode & MPI_MODE_CREATE) != 0) {
    return open_storage(file, Mode::kCreateNew);
  }
  Outcome outcome = open_storage(file, file.storage_mode());
  for (int attempt = 0; attempt < 10 && (file.amode & MPI_MODE_CREATE) != 0; ++attempt) {
    if (outcome.error_class() != MPI_ERR_NO_SUCH_FILE) {
      return outcome;
    }
    outcome = open_storage(file, Mode::kCreateNew);
    if (outcome.error_class() != MPI_ERR_FILE_EXISTS) {
      return outcome;
    }
    outcome = open_storage(file, file.storage_mode());
  }
  return outcome;
}

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
  file.view = std::make_shared<View>();
  file.position = 0;
  if ((file.amode & MPI_MODE_APPEND) != 0) {
    STRIA_MPIIO_RETURN_IF_ERROR(file.size(file.position));
  }
  if (file.comm().rank() == 0) {
    file.channel->shared->begin(file.position);
  }
  return {};
}

// Rank 0 first, because it may create; the others when that went well. Hints and environment, and with them the driver, may
// differ among the ranks.
Outcome open_on_channel(File& file) {
  const bool first = file.comm().rank() == 0;
  auto driver = storage::make_driver(file.hints.driver, file.comm().rank());
  Outcome outcome = driver.status();
  if (outcome.ok()) {
    file.driver = *driver;
    outcome = first ? open_or_create(file) : Outcome();
  }
  STRIA_MPIIO_RETURN_IF_ERROR(agree(file, outcome));
  outcome = first ? Outcome() : open_storage(file, file.storage_mode());
  outcome = agree(file, outcome.ok() ? set_first_positions(file) : outcome);
  if (!outcome.ok()) {
    file.storage.reset();
  }
  return outcome;
}

// For a file that is deleted when it is closed: that somebody else has deleted it is no error.
Outcome remove_if_there(storage::Driver& driver, const std::string& path) {
  Outcome removed = driver.remove(path);
  return removed.error_class() == MPI_ERR_NO_SUCH_FILE ? Outcome() : removed;
}

void close_all() {
  for (const auto& file : open_files()) {
    abandon_file(*file);
    remove_file(*file);
  }
  end_jobs();
}

}  // namespace

std::unique_lock<std::mutex> File::hold_storage() {
  return several_threads ? std::unique_lock(storage_mutex) : std::unique_lock<std::mutex>();
}

std::unique_lock<std::mutex> File::hold_position() {
  return several_threads ? std::unique_lock(position_mutex) : std::unique_lock<std::mutex>();
}

File::~File() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (group != MPI_GROUP_NULL && finalized == 0) {
    MPI_Group_free(&group);
  }
}

Mode File::storage_mode() const {
  return is_writable() ? Mode::kReadWrite : Mode::kRead;
}

Outcome File::size(int64_t& bytes) {
  const auto lock = hold_storage();
  STRIA_ASSIGN_OR_RETURN(bytes, storage->size());
  return {};
}

Outcome agree(File& file, const Outcome& mine) {
  return file.comm().size() == 1 ? mine : agree(file.comm(), file.channel->shared->meeting(), mine);
}

void maximum_of_all(File& file, std::span<int64_t> values) {
  NodeMeeting* meeting = file.channel->shared->meeting();
  if (meeting == nullptr) {
    file.comm().all_reduce(values, ReduceOp::kMax);
    return;
  }
  const auto all = meeting->exchange(file.comm(), values);
  for (size_t i = 0; i < all.size(); ++i) {
    int64_t& most = values[i % values.size()];
    most = std::max(most, all[i]);
  }
}

void apply_hints(File& file, const Hints& given) {
  for (const auto& [name, value] : given) {
    file.given[name] = value;
  }
  std::vector<std::string> warnings;
  const std::string driver = file.hints.driver;
  file.hints = access::resolve_hints(with_environment(file.given), warnings);
  file.hints.node_hosts = file.channel->node_hosts;
  if (!access::names_a_node(file.hints, file.comm())) {
    warnings.emplace_back(access::kNoPlaceForAggregators);
  }
  if (file.storage != nullptr) {
    file.hints.driver = driver;  // of an open file it can't change
  } else if (file.hints.driver == "memory") {
    warnings.emplace_back("hint 'stria_driver' has the value 'memory', which other ranks would not see; 'posix' is used");
    file.hints.driver = "posix";
  }
  access::state_hints(file.trace_id, file.hints);
  if (!warnings.empty()) {
    trace::Recorder::instance().set_fact(file.trace_id, "hint warnings", fmt::format("{}", fmt::join(warnings, "; ")));
  }
  if (speaks(file)) {
    for (const std::string& warning : warnings) {
      say(warning);
    }
  }
}

// Finds out whether the ranks can open a file together, on `channel`; null when they have none.
Outcome admit(MPI_Comm comm, const char* name, int amode, std::shared_ptr<Channel>& channel) {
  int is_inter = 0;
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_test_inter(comm, &is_inter);
  }
  if (comm == MPI_COMM_NULL || is_inter != 0) {
    return {MPI_ERR_COMM, "a file is opened on an intracommunicator"};
  }
  Outcome local = check_amode(amode);
  if (local.ok() && (name == nullptr || *name == '\0')) {
    local = {MPI_ERR_BAD_FILE, "the file's name is empty"};
  }
  at_mpi_end(close_all);
  Admission admission{local.ok(), amode, false};
  STRIA_ASSIGN_OR_RETURN(channel, acquire_channel(comm, admission));
  STRIA_MPIIO_RETURN_IF_ERROR(check_open(admission, local));
  return join_trace(channel->comm);
}

Outcome open_file(MPI_Comm comm, const char* name, int amode, MPI_Info info, std::shared_ptr<File>& made) {
  std::shared_ptr<Channel> channel;
  Outcome outcome = admit(comm, name, amode, channel);
  // From here on: a trace that begins with this call compares the ranks' clocks first.
  const uint16_t trace_id = trace_id_of(name);
  const CallSpan span("MPI_File_open", trace_id);
  if (outcome.ok()) {
    auto file = std::make_shared<File>();
    file->channel = channel;
    file->path = without_prefix(name);
    file->trace_id = trace_id;
    file->counters = &trace::Recorder::instance().counters(trace_id);
    file->amode = amode;
    int thread_level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&thread_level);
    file->several_threads = thread_level == MPI_THREAD_MULTIPLE;
    file->handler = default_handler();
    MPI_Comm_group(comm, &file->group);
    if (speaks(*file)) {
      introduce();
    }
    apply_hints(*file, hints_of(info));
    outcome = open_on_channel(*file);
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
  Outcome outcome;
  if (file.background != nullptr) {
    outcome = file.background->close();
    file.background.reset();
  }
  Outcome closed = file.storage->close();
  file.storage.reset();
  outcome = agree(file, outcome.ok() ? closed : outcome);
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    Outcome removed = agree(file, file.comm().rank() == 0 ? remove_if_there(*file.driver, file.path) : Outcome());
    outcome = outcome.ok() ? removed : outcome;
  }
  release_channel(file.channel);
  return outcome;
}

void abandon_file(File& file) {
  wait_for_jobs(file);
  file.split.reset();
  file.background.reset();
  if ((file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0 && file.comm().rank() == 0) {
    static_cast<void>(remove_if_there(*file.driver, file.path).ok());
  }
  file.storage.reset();
  file.view.reset();
  release_channel(file.channel);
  file.channel.reset();
}

uint16_t trace_id_of(const char* name) {
  return name == nullptr || *name == '\0' ? uint16_t{0} : trace::Recorder::instance().file(without_prefix(name));
}

Outcome delete_file(const char* name, MPI_Info info) {
  if (name == nullptr || *name == '\0') {
    return {MPI_ERR_BAD_FILE, "the file's name is empty"};
  }
  std::vector<std::string> warnings;
  const auto hints = access::resolve_hints(with_environment(hints_of(info)), warnings);
  STRIA_ASSIGN_OR_RETURN(auto driver, storage::make_driver(hints.driver == "memory" ? "posix" : hints.driver));
  return driver->remove(without_prefix(name));
}

}  // namespace stria::mpiio
