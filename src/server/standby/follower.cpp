#include "server/standby/follower.hpp"

#include <exception>
#include <utility>

#include "base/check.hpp"
#include "storage/striped/call.hpp"

namespace stria::server {

namespace {

using std::chrono::milliseconds;

// The manager has news each second.
constexpr milliseconds kFollowPatience{2500};
constexpr milliseconds kBetweenAttempts{500};
constexpr milliseconds kWhileCopyIsMade{5};

}  // namespace

void Follower::start() {
  STRIA_CHECK(!thread_.joinable());
  thread_ = std::thread([this] { run(); });
}

void Follower::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  join();
}

void Follower::join() {
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) {
    thread_.join();
  }
  follows_ = false;
}

bool Follower::finish() {
  finishing_ = true;
  wake_.notify_all();
  join();
  return ended_;
}

void Follower::begin_anew() {
  number_ = 0;
  whole_ = false;
  offset_ = 0;
  partial_ = {};
}

void Follower::run() {
  bool told_away = false;
  while (true) {
    Status outcome;
    try {
      outcome = ask_once();
    } catch (const std::exception& error) {  // no memory
      outcome = Status(ErrorCode::kResourceExhausted, error.what());
    }
    if (ended_ || (finishing_ && !outcome.ok())) {
      return;
    }
    const bool followed = follows_.exchange(outcome.ok() && whole_);
    if (follows_ && !followed) {
      options_.tell(true, "follows the manager at " + link_->server() + ", and has every change");
      told_away = false;
    } else if (!outcome.ok() && !told_away) {
      options_.tell(false, "can't follow the manager: " + outcome.message());
      told_away = true;
    }
    std::unique_lock lock(mutex_);
    if (!outcome.ok()) {
      wake_.wait_for(lock, kBetweenAttempts, [this] { return stopping_ || finishing_; });
    }
    if (stopping_) {
      return;
    }
  }
}

Result<wire::Followed> Follower::ask(const wire::Follow& what) {
  if (link_ == nullptr) {
    link_ = options_.connect();
  }
  if (link_ == nullptr) {
    return Status(ErrorCode::kIo, "it isn't known where the store's manager is");
  }
  storage::Call call;
  call.link = link_.get();
  call.kind = wire::Kind::kFollow;
  call.body = wire::encode(what);
  call.patience = kFollowPatience;
  const Status asked = storage::run_calls({&call, 1});
  if (!asked.ok()) {
    link_ = finishing_ ? std::move(link_) : nullptr;  // the manager may be elsewhere
    return asked;
  }
  return wire::decode<wire::Followed>(call.reply);
}

Status Follower::ask_once() {
  wire::Follow what{.standby = options_.server, .number = number_, .whole = whole_, .offset = offset_, .applied = applied_};
  if (whole_) {
    what.offset = static_cast<int64_t>(partial_.bytes.size());
  } else if (finishing_) {
    return Status(ErrorCode::kAborted, "there is no whole copy");
  }
  auto told = ask(what);
  Status outcome = told.status();
  if (outcome.ok()) {
    outcome = whole_ ? take_changes(*told) : take_piece_of_copy(*told);
  }
  if (!outcome.ok() && outcome.code() != ErrorCode::kIo) {
    begin_anew();
  }
  return outcome;
}

Status Follower::take_piece_of_copy(const wire::Followed& told) {
  if (number_ == 0) {
    STRIA_RETURN_IF_ERROR(copy_.begin());
    offset_ = 0;
  }
  number_ = told.number;
  if (told.total_bytes == 0) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, kWhileCopyIsMade, [this] { return stopping_; });
    return {};
  }
  if (told.copy.empty()) {
    return Status(ErrorCode::kFormat, "the manager's copy ends too early");
  }
  // Part of the piece may be there: it would be twice in the copy.
  if (const Status added = copy_.add(told.copy); !added.ok()) {
    begin_anew();
    return added;
  }
  offset_ += static_cast<int64_t>(told.copy.size());
  if (offset_ >= told.total_bytes) {
    if (const Status taken = copy_.take(); !taken.ok()) {
      begin_anew();
      return taken;
    }
    whole_ = true;
    applied_ = told.first;
  }
  return {};
}

// A piece that comes again, after a connection was lost, comes from where the one before ended.
Status Follower::take_changes(wire::Followed& told) {
  for (wire::Followed::Piece& piece : told.pieces) {
    if (partial_.bytes.empty()) {
      partial_ = {piece.sequence, piece.form, piece.durable, {}};
    }
    if (piece.sequence != partial_.sequence || piece.sequence != applied_ + 1) {
      return Status(ErrorCode::kFormat, "the manager has left out a change");
    }
    partial_.bytes.insert(partial_.bytes.end(), piece.bytes.begin(), piece.bytes.end());
    if (piece.last) {
      STRIA_RETURN_IF_ERROR(copy_.apply(partial_));
      applied_ = piece.sequence;
      partial_ = {};
    }
  }
  ended_ = told.ended;
  return {};
}

}  // namespace stria::server
