#include "access/locks/write_lock.hpp"

#include <utility>

#include "base/check.hpp"

namespace stria::access {

namespace {

bool sieving_is_asked_for(const ResolvedHints& hints) {
  return hints.method == Method::kDataSieving || hints.method == Method::kHybrid || hints.sieve_writes == Switch::kEnable;
}

bool on_one_node(const Comm& comm) {
  return comm.node_size() == comm.size();
}

// The file system takes ranks of several nodes, and handles of one rank each, for several writers.
bool are_one_writer(const Context& context) {
  return context.comm.size() > 1 && on_one_node(context.comm);
}

// Ranks of several nodes sieve unasked where a lock of the file costs no more than another system
// call: on storage that they reach through one kernel.
bool sieve_jointly_unasked(const Context& context) {
  const storage::Capabilities& capabilities = context.file->capabilities();
  return context.comm.size() > 1 && !on_one_node(context.comm) && capabilities.node_local_cache &&
         context.hints.sieve_writes == Switch::kAutomatic;
}

// Tells whether this rank's locks of the node, if there are any, are all that the ranks of its
// communicator need.
bool shares_memory_with_all(const Context& context) {
  return context.comm.size() == 1 || (context.others.locks != nullptr && on_one_node(context.comm));
}

Status cannot_keep_out(const Context& context) {
  return {ErrorCode::kUnsupported, "'" + context.file->path() + "': other writers can't be kept out of a window"};
}

}  // namespace

bool may_try_to_sieve_writes(const Context& context) {
  if (context.others.are_none()) {
    return shares_memory_with_all(context);
  }
  const storage::Capabilities& capabilities = context.file->capabilities();
  if (context.comm.size() == 1 || capabilities.locks_itself) {
    return capabilities.node_local_cache || capabilities.locks_itself;
  }
  return context.others.writers != nullptr && capabilities.locks_reach_all &&
         (are_one_writer(context) || context.others.are_shut_out() || sieve_jointly_unasked(context));
}

Status WriteLock::lock_file(Context& context, ByteRange range, storage::LockMode mode) {
  if (context.others.are_shut_out()) {
    return {};
  }
  if (context.others.writers != nullptr) {
    alone_ = std::unique_lock(context.others.writers->lock_mutex());
  }
  STRIA_ASSIGN_OR_RETURN(file_, context.file->lock(range, mode));
  return {};
}

Result<WriteLock> WriteLock::window(Context& context, ByteRange range) {
  STRIA_ASSERT(!range.empty(), range.begin, range.end);
  WriteLock lock;
  const bool asked = sieving_is_asked_for(context.hints);
  const bool needs_lease = context.comm.size() == 1 && !asked && !context.file->capabilities().locks_itself;
  if (context.others.are_none() || needs_lease) {
    if (context.others.locks != nullptr) {
      lock.node_ = context.others.locks->lock(range);
    }
    if (!context.others.are_none()) {
      STRIA_ASSIGN_OR_RETURN(lock.file_, context.file->own());
    } else if (!shares_memory_with_all(context)) {
      STRIA_RETURN_IF_ERROR(lock.lock_file(context, range, storage::LockMode::kExclusive));
    }
    return lock;
  }
  if (context.file->capabilities().locks_itself) {
    // Every write does so.
    lock.node_ = context.others.locks != nullptr ? context.others.locks->lock(range) : NodeLocks::Guard();
    STRIA_RETURN_IF_ERROR(lock.lock_file(context, range, storage::LockMode::kExclusive));
    return lock;
  }
  if (context.others.writers == nullptr || !context.file->capabilities().locks_reach_all) {
    return cannot_keep_out(context);
  }
  const Standing wish =
      are_one_writer(context) && !context.others.are_shut_out() ? Standing::kSoleSiever : Standing::kJointSiever;
  if (!context.others.writers->enter_window(*context.file, range, wish, lock.node_)) {
    return cannot_keep_out(context);
  }
  STRIA_RETURN_IF_ERROR(lock.lock_file(context, range, storage::LockMode::kExclusive));
  return lock;
}

Result<WriteLock> WriteLock::plain(Context& context, ByteRange range) {
  STRIA_ASSERT(!range.empty(), range.begin, range.end);
  WriteLock lock;
  const bool asked = sieving_is_asked_for(context.hints);
  const storage::Capabilities& capabilities = context.file->capabilities();
  if (context.others.writers == nullptr || !capabilities.locks_reach_all || capabilities.locks_itself ||
      context.others.are_shut_out()) {
    if (context.others.locks != nullptr) {
      lock.node_ = context.others.locks->enter_plain(range);
    }
    if (context.others.are_none() && asked && !shares_memory_with_all(context)) {
      STRIA_RETURN_IF_ERROR(lock.lock_file(context, range, storage::LockMode::kShared));
    }
    return lock;
  }
  const bool joins = !are_one_writer(context) &&
                     (asked || (sieve_jointly_unasked(context) && context.others.writers->has_been_refused_a_window()));
  bool must_lock = false;
  lock.node_ =
      context.others.writers->enter_plain(*context.file, range, joins ? Standing::kJointSiever : Standing::kFree, must_lock);
  if (must_lock) {
    STRIA_RETURN_IF_ERROR(lock.lock_file(context, range, storage::LockMode::kShared));
  }
  return lock;
}

}  // namespace stria::access
