#include "access/write_lock.hpp"

#include <utility>

namespace stria::access {

namespace {

bool sieving_is_asked_for(const ResolvedHints& hints) {
  return hints.method == Method::kDataSieving || hints.method == Method::kHybrid || hints.sieve_writes == Switch::kEnable;
}

bool on_one_node(const Comm& comm) {
  return comm.node_size() == comm.size();
}

}  // namespace

bool may_sieve_writes(const Context& context) {
  // A communicator of one rank says nothing of other ranks, which may have handles of their own.
  bool shares_locks = context.locks != nullptr && context.comm.size() > 1 && on_one_node(context.comm);
  return context.sole_writer || shares_locks;
}

bool may_try_to_sieve_writes(const Context& context) {
  return may_sieve_writes(context) || (context.comm.size() == 1 && context.file->capabilities().node_local_cache);
}

Result<WriteLock> WriteLock::window(Context& context, ByteRange range) {
  WriteLock lock;
  if (context.locks != nullptr) {
    lock.node_ = context.locks->lock(range);
  }
  if (!may_sieve_writes(context) && !sieving_is_asked_for(context.hints)) {
    STRIA_ASSIGN_OR_RETURN(lock.file_, context.file->own());
    return lock;
  }
  auto of_file = context.file->lock(range, storage::LockMode::kExclusive);
  if (of_file.ok()) {
    lock.file_ = std::move(*of_file);
  } else if (of_file.status().code() != ErrorCode::kUnsupported || !may_sieve_writes(context)) {
    return of_file.status();
  }
  return lock;
}

Result<WriteLock> WriteLock::plain(Context& context, ByteRange range) {
  WriteLock lock;
  if (context.locks != nullptr) {
    lock.node_ = context.locks->enter_plain(range);
  }
  if (sieving_is_asked_for(context.hints) && !may_sieve_writes(context)) {
    auto of_file = context.file->lock(range, storage::LockMode::kShared);
    if (of_file.ok()) {
      lock.file_ = std::move(*of_file);
    } else if (of_file.status().code() != ErrorCode::kUnsupported) {
      return of_file.status();
    }
  }
  return lock;
}

}  // namespace stria::access
