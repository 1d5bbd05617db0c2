// A mutex in memory that the ranks of a node share.
#pragma once

#include <pthread.h>

#include <cerrno>

namespace stria {

/// Local; one rank calls it, before the others look.
inline void init_node_mutex(pthread_mutex_t* mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

/// Holds it. Don't wait for another rank meanwhile.
class MutexLock {
 public:
  explicit MutexLock(pthread_mutex_t* mutex) : mutex_(mutex) { pthread_mutex_lock(mutex_); }
  ~MutexLock() { pthread_mutex_unlock(mutex_); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  bool is_of(const pthread_mutex_t* mutex) const { return mutex_ == mutex; }

 private:
  pthread_mutex_t* mutex_;
};

/// Prepares one that outlives a process that ends while it holds it. Local, likewise.
inline void init_robust_node_mutex(pthread_mutex_t* mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

/// Holds such a mutex. One that is held for less than a system call takes is tried so many times
/// before the thread sleeps.
class RobustMutexLock {
 public:
  explicit RobustMutexLock(pthread_mutex_t* mutex, int tries = 0)
      : mutex_(mutex), owner_died_(lock(mutex, tries) == EOWNERDEAD) {
    if (owner_died_) {
      pthread_mutex_consistent(mutex_);
    }
  }
  ~RobustMutexLock() { pthread_mutex_unlock(mutex_); }
  RobustMutexLock(const RobustMutexLock&) = delete;
  RobustMutexLock& operator=(const RobustMutexLock&) = delete;
  /// Tells whether the process that held it last has ended meanwhile: what the mutex keeps together
  /// may be half changed.
  bool owner_died() const { return owner_died_; }

 private:
  static int lock(pthread_mutex_t* mutex, int tries) {
    for (int i = 0; i < tries; ++i) {
      const int error = pthread_mutex_trylock(mutex);
      if (error != EBUSY) {
        return error;
      }
    }
    return pthread_mutex_lock(mutex);
  }

  pthread_mutex_t* mutex_;
  bool owner_died_;
};

}  // namespace stria
