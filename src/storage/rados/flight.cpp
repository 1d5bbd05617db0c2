#include "storage/rados/flight.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/check.hpp"

namespace stria::storage {

Flight::~Flight() {
  std::unique_lock lock(mutex_);
  landing_.wait(lock, [&] {
    return std::none_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::kFlying; });
  });
}

// A thread of librados calls this.
void Flight::landed(rados_completion_t completion, void* argument) {
  Slot& slot = *static_cast<Slot*>(argument);
  Flight& flight = *slot.flight;
  const std::lock_guard lock(flight.mutex_);
  STRIA_CHECK(slot.state == State::kFlying, slot.object);
  slot.result = flight.pool_.rados().aio_get_return_value(completion);
  slot.state = State::kLanded;
  flight.landing_.notify_all();
}

void Flight::finish(Slot& slot) {
  const int result = slot.landing ? slot.landing(slot.result) : slot.result;
  if (result < 0) {
    outcome_.update(pool_.error(result, slot.object));
  }
  slot.landing = nullptr;
  slot.state = State::kFree;
}

// Each landing runs in the caller's thread, without the mutex.
bool Flight::take_in() {
  bool any = false;
  for (Slot& slot : slots_) {
    {
      const std::lock_guard lock(mutex_);
      if (slot.state != State::kLanded) {
        continue;
      }
    }
    finish(slot);
    any = true;
  }
  return any;
}

Flight::Slot* Flight::free_slot() {
  while (true) {
    take_in();
    std::unique_lock lock(mutex_);
    const auto found = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::kFree; });
    if (found != slots_.end()) {
      return &*found;
    }
    landing_.wait(lock, [&] {
      return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::kLanded; });
    });
  }
}

void Flight::add(std::string object, const Start& start, Landing landing) {
  Slot* slot = free_slot();
  if (outcome_.ok() && pool_.is_given_up()) {
    outcome_ = pool_.error(-ETIMEDOUT, object);
  }
  if (!outcome_.ok()) {
    return;
  }
  slot->flight = this;
  slot->object = std::move(object);
  slot->landing = std::move(landing);
  rados_completion_t completion = nullptr;
  pool_.rados().aio_create_completion2(slot, &Flight::landed, &completion);
  {
    const std::lock_guard lock(mutex_);
    slot->state = State::kFlying;
  }
  int started = -ENOMEM;
  try {
    started = start(completion);
  } catch (const std::bad_alloc&) {
    // An operation that was not started never lands.
  }
  pool_.rados().aio_release(completion);
  if (started < 0) {
    const std::lock_guard lock(mutex_);
    slot->state = State::kFree;
    outcome_.update(pool_.error(started, slot->object));
  }
}

Status Flight::wait() {
  {
    std::unique_lock lock(mutex_);
    landing_.wait(lock, [&] {
      return std::none_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::kFlying; });
    });
  }
  take_in();
  return std::exchange(outcome_, Status());
}

}  // namespace stria::storage
