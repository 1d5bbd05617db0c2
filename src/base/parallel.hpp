// Independent pieces of work, shared by several threads.
#pragma once

#include <cstddef>
#include <functional>

#include "stria/status.hpp"

namespace stria {

/// Calls `work` with a thread below `threads` and each number below `count`, in any order. The
/// calling thread is 0 and works too; it does all of it where the system gives no others. Returns
/// the first failure, after which nothing more is begun. `work` throws nothing but std::bad_alloc.
Status share_work(int threads, size_t count, const std::function<Status(int thread, size_t number)>& work);

}  // namespace stria
