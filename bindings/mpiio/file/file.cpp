#include "mpiio/file/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/staging_pool.hpp"

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

// Some ranks would exchange data while others don't, if this weren't the same on all nodes.
void File::agree_on_staging() {
  std::array<int64_t, 1> without{hints().async == access::Switch::kEnable ? 0 : 1};
  if (shared().has_several_nodes()) {
    maximum_of_all(*this, without);
  }
  staging_.is_on = without[0] == 0;
  if (staging_.is_on) {
    const int64_t limit_bytes = hints().staging_limit_bytes >= 0 ? hints().staging_limit_bytes : default_staging_bytes();
    staging_.limit_bytes = limit_bytes / comm().node_size();
  }
}

void File::drop_channel() {
  release_channel();
  channel_.reset();
}

Outcome advance_shared(File& file, int64_t bytes, int64_t& before) {
  const auto moved = file.shared().advance(bytes);
  if (!moved.ok()) {
    return moved.status().with_context(fmt::format("'{}': there is no shared file pointer", file.path()));
  }
  before = *moved;
  return {};
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
