#include "server/standby/marks.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace stria::server {

namespace {

constexpr std::chrono::milliseconds kMarkPatience{1000};
constexpr int kCallsBetweenLooks = 4;

}  // namespace

bool Marks::is_due() {
  const ChangeStream::State state = stream_.state();
  if (state == ChangeStream::State::kAlone && !mark_) {
    return false;  // there never was a standby
  }
  const wire::Identity in_step = state == ChangeStream::State::kInStep ? stream_.standby() : wire::Identity{};
  return state == ChangeStream::State::kUnsure || !mark_ || mark_->in_step != in_step || told_.size() < voters_ ||
         ++calls_since_ >= kCallsBetweenLooks;
}

// A mark of that number was given before: the names come from a backup, or have lost the last ones.
void Marks::give_way_to(const wire::Mark& known) {
  STRIA_CHECK(mark_.has_value());
  if (known.epoch == mark_->epoch && known.number >= mark_->number && known != *mark_) {
    is_outdated_ = true;
    newest_ = std::max(newest_, known.number);
  }
}

Status Marks::take(const wire::Identity& server, const Result<wire::RoleTold>& told) {
  if (!told.ok()) {
    return {};
  }
  if (told->mark.epoch > mark_->epoch) {
    return role_.note(told->mark, told->manager);
  }
  if (told->mark == *mark_) {
    told_.insert(server);
  } else {
    give_way_to(told->mark);
  }
  return {};
}

Status Marks::tell(uint64_t epoch, const std::string& address) {
  calls_since_ = 0;
  const ChangeStream::State state = stream_.state();
  const wire::Identity in_step = state == ChangeStream::State::kInStep ? stream_.standby() : wire::Identity{};
  if (!mark_ || mark_->in_step != in_step || is_outdated_) {
    STRIA_ASSIGN_OR_RETURN(mark_, manager_.next_mark(in_step, newest_));
    if (mark_->number <= newest_) {
      return Status(ErrorCode::kFormat, "a server knows a mark of a number that none can have: " + std::to_string(newest_));
    }
    told_.clear();
    is_outdated_ = false;
  }
  // This server comes first: then it doesn't let itself be replaced by one that knows no better.
  STRIA_RETURN_IF_ERROR(role_.note(*mark_, address));
  if (role_.mark() != *mark_) {
    give_way_to(role_.mark());
    return {};
  }
  told_.insert(self_);
  STRIA_ASSIGN_OR_RETURN(auto servers, manager_.voters(stream_.standby()));
  voters_ = servers.size();
  std::erase_if(servers, [&](const Roster::Server& server) { return told_.contains(server.identity); });
  for (const auto& [server, told] :
       calls_.ask(servers, {.step = wire::RoleStep::kNote, .mark = *mark_, .manager = address}, kMarkPatience)) {
    STRIA_RETURN_IF_ERROR(take(server, told));
  }
  const bool nobody_is = mark_->in_step == wire::Identity{};
  if (role_.epoch() <= epoch && nobody_is && !is_outdated_ && told_.size() >= enough_to_go_on(voters_)) {
    stream_.told_all();
  }
  return {};
}

}  // namespace stria::server
