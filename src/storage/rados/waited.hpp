// One operation of librados that has no deadline of its own (watch, notify): waited for until one.
#pragma once

#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "storage/rados/pool.hpp"

namespace stria::storage {

/// What the operation reads and writes is part of it, and stays until librados is done with it,
/// however long the caller waits.
template <typename Data>
class Waited {
 public:
  /// `start` gets the data and a completion, and returns what librados returned.
  /// \returns what the operation returned; -ETIME when it is still under way after rados_patience()
  template <typename Start>
  static int run(const Pool& pool, const std::shared_ptr<Data>& data, const Start& start) {
    if (pool.is_given_up()) {
      return -ETIMEDOUT;
    }
    auto state = std::make_shared<State>();
    state->rados = &pool.rados();
    state->data = data;
    auto* kept = new std::shared_ptr<State>(state);  // the completion's own
    rados_completion_t completion = nullptr;
    pool.rados().aio_create_completion2(kept, &Waited::done, &completion);
    const int started = start(*data, completion);
    pool.rados().aio_release(completion);
    if (started < 0) {
      delete kept;
      return started;
    }
    std::unique_lock lock(state->mutex);
    const bool in_time = state->finished.wait_for(lock, rados_patience(), [&] { return state->is_done; });
    return in_time ? state->result : -ETIME;
  }

 private:
  struct State {
    const Librados* rados = nullptr;
    std::shared_ptr<Data> data;
    std::mutex mutex;
    std::condition_variable finished;
    bool is_done = false;
    int result = 0;
  };

  static void done(rados_completion_t completion, void* argument) {
    const std::unique_ptr<std::shared_ptr<State>> kept(static_cast<std::shared_ptr<State>*>(argument));
    State& state = **kept;
    const std::lock_guard lock(state.mutex);
    state.result = state.rados->aio_get_return_value(completion);
    state.is_done = true;
    state.finished.notify_all();
  }
};

}  // namespace stria::storage
