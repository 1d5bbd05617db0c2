#include "storage/posix/writer_turn.hpp"

#include <fcntl.h>

#include <cerrno>

namespace stria::storage {

namespace {

constexpr int64_t kTurnOffset = int64_t{1} << 62;

struct flock turn_lock(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kTurnOffset;
  lock.l_len = 1;
  return lock;
}

}  // namespace

WriterTurn::WriterTurn(SystemCalls& calls, int descriptor, bool wanted) : calls_(calls), descriptor_(descriptor) {
  if (!wanted) {
    return;
  }
  struct flock lock = turn_lock(F_WRLCK);
  int result = 0;
  do {
    result = calls_.lock_range(descriptor_, &lock);
  } while (result != 0 && errno == EINTR);
  held_ = result == 0;
}

WriterTurn::~WriterTurn() {
  if (held_) {
    struct flock lock = turn_lock(F_UNLCK);
    calls_.lock_range(descriptor_, &lock);
  }
}

}  // namespace stria::storage
