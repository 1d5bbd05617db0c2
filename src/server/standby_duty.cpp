#include "server/standby_duty.hpp"

#include <utility>

#include "server/objects/store_directory.hpp"

namespace stria::server {

namespace {

constexpr Caller kOfItself{.user = {}, .trusted = true, .is_super = true};

/// Says what is true after an error of the last step, and what can be done then.
Status unfinished(const Status& outcome) {
  return outcome.with_context(
      "this standby has taken over the store's names, but can't work as their manager yet. Mend this, and promote it once "
      "more, or start it again");
}

}  // namespace

StandbyDuty::StandbyDuty(SharedState& shared, Options options)
    : shared_(shared),
      options_(std::move(options)),
      copy_(options_.copy_path),
      follower_(copy_,
                Follower::Options{shared.identity, options_.link,
                                  [this](bool good, const std::string& text) {
                                    shared_.watch.tell({good ? Level::kInfo : Level::kWarning,
                                                        good ? "standby_follows" : "standby_away", "this standby " + text});
                                  }}),
      calls_(options_.connect) {
  shared.promote = [this](const wire::Promote& request) { return take_over(request); };
  shared.in_step = [this] { return follower_.follows(); };
}

Result<wire::Promoted> StandbyDuty::take_over(const wire::Promote& request) {
  if (shared_.manages()) {
    return Status(ErrorCode::kAlreadyExists, "this server is the store's manager already");
  }
  if (begun_ && !copy_.exists()) {
    return go_on();
  }
  const Promotion promotion{
      .copy = copy_,
      .follower = follower_,
      .calls = calls_,
      .server = shared_.identity,
      .address = options_.address(),
      .decided_by = decided_by_,
      .become = [this](const wire::Promoted& done, std::vector<wire::Identity> away) { return become(done, std::move(away)); }};
  return promote(promotion, request);
}

// An attempt before has made the names of the copy.
Result<wire::Promoted> StandbyDuty::go_on() {
  if (shared_.role->epoch() > begun_->done.epoch) {
    return Status(ErrorCode::kAborted,
                  "another server was promoted after this one had begun: the store's manager is the one at " +
                      shared_.role->manager() + "; start this one again, and it joins that");
  }
  STRIA_RETURN_IF_ERROR(unfinished(sync_directory(options_.names_path.substr(0, options_.names_path.rfind('/')))));
  STRIA_RETURN_IF_ERROR(unfinished(work_as_manager(*begun_)));
  return begun_->done;
}

Status StandbyDuty::become(const wire::Promoted& done, std::vector<wire::Identity> away) {
  begun_ = Begun{done, std::move(away)};
  const Status named = copy_.become(options_.names_path, done.epoch);
  if (copy_.exists()) {
    return named;  // it couldn't be taken
  }
  return unfinished(named.ok() ? work_as_manager(*begun_) : named);
}

// Clients are let to it when it knows of a server, and this server of its tickets.
Status StandbyDuty::work_as_manager(const Begun& begun) {
  const uint64_t epoch = begun.done.epoch;
  STRIA_RETURN_IF_ERROR(shared_.role->note({.epoch = epoch}, options_.address()));
  STRIA_ASSIGN_OR_RETURN(auto manager, options_.open_manager(begun.away));
  const Objects::Space space = shared_.objects->space();
  const wire::Pulse said{.server = shared_.identity,
                         .address = options_.address(),
                         .total_bytes = space.total_bytes,
                         .free_bytes = space.free_bytes,
                         .removed = {}};
  const Answer reply = manager->answer({{}, wire::Kind::kPulse, 0, wire::encode(said), kOfItself});
  STRIA_RETURN_IF_ERROR(reply.status);
  STRIA_ASSIGN_OR_RETURN(const auto answer, wire::decode<wire::PulseAnswer>(reply.body));
  shared_.tickets.learn(answer.secret, answer.epoch, answer.now_ms);
  shared_.manager.take(std::move(manager));
  shared_.watch.tell({Level::kWarning, "promoted", "this standby is the store's manager now, epoch " + std::to_string(epoch)});
  return {};
}

Result<std::string> whom_to_join(const std::string& join, const std::string& names_path, const SharedState& shared) {
  const uint64_t known = shared.role->epoch();
  if (known == 0 && join.empty()) {
    return join;
  }
  STRIA_ASSIGN_OR_RETURN(const auto kept, epoch_of_names(names_path));
  const bool is_newest = kept && *kept >= known;
  if (!join.empty() && is_newest && *kept > 0) {
    shared.watch.tell({Level::kInfo, "manager_changed", "this server was promoted: it is the store's manager, and joins none"});
    return std::string();
  }
  if (join.empty() && kept && !is_newest) {
    const std::string manager = shared.role->manager();
    shared.watch.tell({Level::kWarning, "manager_replaced",
                       "this manager was replaced by the one at " + manager + ", and joins it as a server"});
    return manager;
  }
  return join;
}

}  // namespace stria::server
