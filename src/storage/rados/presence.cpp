#include "storage/rados/presence.hpp"

#include <cerrno>
#include <utility>

#include "storage/rados/waited.hpp"

namespace stria::storage {

namespace {

constexpr uint64_t kAnswerMs = 2000;

struct Answer {
  explicit Answer(const Librados& rados) : library(rados) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() {
    if (reply != nullptr) {
      library.buffer_free(reply);
    }
  }
  const Librados& library;
  char* reply = nullptr;
  size_t bytes = 0;
};

}  // namespace

struct Presence::Watch {
  std::shared_ptr<const Pool> pool;
  std::string header;
  uint64_t cookie = 0;
  std::atomic<bool> lost{false};
};

namespace {

// Both are called by threads of librados.
void answer(void* argument, uint64_t notification, uint64_t cookie, uint64_t, void*, size_t) {
  const auto& watch = *static_cast<Presence::Watch*>(argument);
  watch.pool->rados().notify_ack(watch.pool->io(), watch.header.c_str(), notification, cookie, nullptr, 0);
}

void note_loss(void* argument, uint64_t, int) {
  static_cast<Presence::Watch*>(argument)->lost = true;
}

}  // namespace

Result<std::unique_ptr<Presence>> Presence::announce(std::shared_ptr<const Pool> pool, const std::string& header) {
  auto watch = std::make_shared<Watch>();
  watch->pool = std::move(pool);
  watch->header = header;
  const Pool& in = *watch->pool;
  const int result = Waited<Watch>::run(in, watch, [&](Watch& made, rados_completion_t completion) {
    return in.rados().aio_watch2(in.io(), made.header.c_str(), completion, &made.cookie, answer, note_loss, kWatchSeconds,
                                 &made);
  });
  if (result == -ETIME) {
    // It may begin at any time, and then needs what it points to.
    static_cast<void>(new std::shared_ptr<Watch>(watch));
  }
  if (result < 0) {
    return in.error(result, header);
  }
  return std::make_unique<Presence>(std::move(watch));
}

Presence::~Presence() {
  const Pool& pool = *watch_->pool;
  if (!pool.is_ours() || pool.is_given_up()) {
    // The cluster drops it by itself.
    static_cast<void>(new std::shared_ptr<Watch>(watch_));
    return;
  }
  static_cast<void>(pool.rados().unwatch2(pool.io(), watch_->cookie));
  // A notification may still be on its way to this watch until the flush returns.
  pool.rados().watch_flush(pool.cluster());
}

Holder Presence::holder() const {
  return {watch_->pool->client(), watch_->cookie};
}

bool Presence::is_lost() const {
  return watch_->lost;
}

Result<Present> who_is_present(const Pool& pool, const std::string& header) {
  const Librados& rados = pool.rados();
  const auto answers = std::make_shared<Answer>(rados);
  const int result = Waited<Answer>::run(pool, answers, [&](Answer& made, rados_completion_t completion) {
    return rados.aio_notify(pool.io(), header.c_str(), completion, "", 0, kAnswerMs, &made.reply, &made.bytes);
  });
  // Those who didn't answer are named although the result is an error.
  if (result < 0 && result != -ETIMEDOUT) {
    return pool.error(result, header);
  }
  if (answers->reply == nullptr) {
    return pool.error(-ETIMEDOUT, header);
  }
  notify_ack_t* acknowledged = nullptr;
  notify_timeout_t* silent = nullptr;
  size_t acknowledged_count = 0;
  size_t silent_count = 0;
  const int decoded =
      rados.decode_notify_response(answers->reply, answers->bytes, &acknowledged, &acknowledged_count, &silent, &silent_count);
  if (decoded < 0) {
    return pool.error(decoded, header);
  }
  Present present;
  for (size_t i = 0; i < acknowledged_count; ++i) {
    present.answered.insert({acknowledged[i].notifier_id, acknowledged[i].cookie});
  }
  for (size_t i = 0; i < silent_count; ++i) {
    present.silent.insert({silent[i].notifier_id, silent[i].cookie});
  }
  rados.free_notify_response(acknowledged, acknowledged_count, silent);
  return present;
}

}  // namespace stria::storage
