#include "mpiio/file/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "access/plan/aggregators.hpp"
#include "access/plan/facts.hpp"
#include "access/together/node/short_calls.hpp"
#include "base/staging_pool.hpp"
#include "mpiio/file/info.hpp"
#include "mpiio/file/messages.hpp"
#include "trace/record/recorder.hpp"

namespace stria::mpiio {

File::File(const Arguments& arguments)
    : mode_(arguments.mode),
      channel_(arguments.channel),
      storage_(arguments.name, arguments.mode, arguments.several_threads, channel_->comm->size() == 1),
      writers_(channel_->shared->locks()),
      pointer_(arguments.several_threads),
      trace_(arguments.trace_id) {
  MPI_Comm_group(arguments.comm, &group_);
}

File::~File() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (group_ != MPI_GROUP_NULL && finalized == 0) {
    MPI_Group_free(&group_);
  }
}

Outcome File::read_hint_files() {
  return access::hints_from_files(comm(), path(), {"STRIA_HINTS_FILE", "ROMIO_HINTS"}, file_hints_);
}

void File::apply_hints(const Hints& given) {
  for (const auto& [name, value] : given) {
    given_[name] = value;
  }
  std::vector<std::string> warnings;
  const std::string driver = hints_.driver;
  const access::Switch async = hints_.async;
  const Hints hints = with_environment(given_, file_hints_, warnings);
  hints_ = access::resolve_hints(hints, warnings);
  hints_.node_hosts = channel_->node_hosts;
  if (!access::names_a_node(hints_, comm())) {
    warnings.emplace_back(access::kNoPlaceForAggregators);
  }
  if (storage_.is_open()) {
    hints_.driver = driver;  // of an open file these can't change
    hints_.async = async;
  } else if (hints_.driver == "memory") {
    warnings.emplace_back("hint 'stria_driver' has the value 'memory', which other ranks would not see; 'posix' is used");
    hints_.driver = "posix";
  }
  if (hints_.direct == access::Switch::kEnable) {
    warnings.emplace_back("hint 'stria_direct' is for files that Stria itself makes; MPI-IO goes through the page cache");
  }
  for (const char* name : {"stria_staging", "stria_staging_rate", "stria_staging_writers"}) {
    if (hints.contains(name)) {
      warnings.push_back(fmt::format("hint '{}' is for files that Stria itself makes, and has no effect in MPI-IO", name));
    }
  }
  hints_.direct = access::Switch::kDisable;
  access::stop_passing(channel_->kept);
  access::state_hints(trace_.id(), hints_);
  if (!warnings.empty()) {
    trace::Recorder::instance().set_fact(trace_.id(), "hint warnings", fmt::format("{}", fmt::join(warnings, "; ")));
  }
  if (speaks_for(comm())) {
    for (const std::string& warning : warnings) {
      say(warning);
    }
  }
}

// Without the same on all nodes, some ranks would exchange data while others don't.
void File::agree_on_staging() {
  std::array<int64_t, 1> without{hints_.async == access::Switch::kEnable ? 0 : 1};
  if (shared().has_several_nodes()) {
    maximum_of_all(*this, without);
  }
  stages_ = without[0] == 0;
  if (stages_) {
    const int64_t limit_bytes = hints_.staging_limit_bytes >= 0 ? hints_.staging_limit_bytes : default_staging_bytes();
    staging_limit_bytes_ = limit_bytes / comm().node_size();
  }
}

void File::set_atomic(bool atomic) {
  atomic_ = atomic;
  atomic_turn_ = atomic && comm().size() > 1 ? shared().atomic_turn(comm()) : nullptr;
}

Outcome File::advance_shared(int64_t bytes, int64_t& before) {
  const auto moved = shared().advance(bytes);
  if (!moved.ok()) {
    return moved.status().with_context(fmt::format("'{}': there is no shared file pointer", path()));
  }
  before = *moved;
  return {};
}

void File::drop_channel() {
  release_channel();
  channel_.reset();
}

Outcome agree(File& file, const Outcome& mine) {
  return file.comm().size() == 1 ? mine : agree(file.comm(), file.shared().meeting(), mine);
}

void maximum_of_all(File& file, std::span<int64_t> values) {
  NodeMeeting* meeting = file.shared().meeting();
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

}  // namespace stria::mpiio
