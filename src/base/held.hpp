// A function that needs a mutex held takes the lock as an argument, and looks at it in checked
// builds, so that nobody calls it without.
#pragma once

#include <mutex>

namespace stria {

/// A lock that the caller has, and gives as proof.
using Held = std::unique_lock<std::mutex>;

/// Tells whether `held` holds this very mutex.
inline bool holds(const Held& held, const std::mutex& mutex) {
  return held.owns_lock() && held.mutex() == &mutex;
}

}  // namespace stria
