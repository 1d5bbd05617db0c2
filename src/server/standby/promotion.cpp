#include "server/standby/promotion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace stria::server {

namespace {

constexpr std::chrono::milliseconds kRolePatience{2000};
constexpr const char* kForce = "'stria promote --even-if-behind' takes over all the same";

/// Says what the servers know before anything is done.
struct Found {
  wire::Mark newest;
  std::string manager;
  wire::Mark newest_of_manager;  ///< The standby has the names of that manager.
  std::vector<Roster::Server> voters;
  std::vector<Roster::Server> silent;
  std::vector<Roster::Server> managers;  ///< servers that still work as one
};

std::string names_of(const std::vector<Roster::Server>& servers) {
  std::string names;
  for (const Roster::Server& server : servers) {
    names +=
        fmt::format("{}{} ({})", names.empty() ? "" : ", ", server.index, server.address.empty() ? "gone" : server.address);
  }
  return names;
}

Result<Found> look(const Promotion& what, const NamesCopy::Known& known) {
  Found found;
  found.voters = known.servers;
  std::erase_if(found.voters, [&](const auto& server) { return server.retired || server.identity == what.server; });
  const auto answers = what.calls.ask(found.voters, {}, kRolePatience);
  for (const Roster::Server& server : found.voters) {
    const Result<wire::RoleTold>& told = answers.at(server.identity);
    if (!told.ok()) {
      found.silent.push_back(server);
      continue;
    }
    if (told->mark.is_newer_than(found.newest)) {
      found.newest = told->mark;
      found.manager = told->manager;
    }
    if (told->mark.epoch == known.epoch && told->mark.is_newer_than(found.newest_of_manager)) {
      found.newest_of_manager = told->mark;
    }
    if (told->kind == wire::RoleKind::kManager) {
      found.managers.push_back(server);
    }
  }
  return found;
}

/// This standby has begun to take over before.
bool was_begun(const Promotion& what, const NamesCopy::Known& known, const Found& found) {
  return found.newest.number == 0 && found.newest.epoch > known.epoch && found.manager == what.address;
}

Status check(const Promotion& what, const NamesCopy::Known& known, const Found& found) {
  const size_t heard = found.voters.size() - found.silent.size();
  const size_t needed = enough_to_take_over(found.voters.size());
  if (heard < needed) {
    return Status(ErrorCode::kAborted,
                  fmt::format("it isn't known whether this standby has every change: {} of {} servers have to say so, and {} "
                              "did. These don't answer: {}. Start them; or, if their manager is surely lost, {}",
                              needed, found.voters.size(), heard, names_of(found.silent), kForce));
  }
  const wire::Mark& of_manager = found.newest_of_manager;
  // An attempt before was cut off: servers that took part in it have forgotten the mark.
  const bool goes_on = was_begun(what, known, found) && (what.decided_by || of_manager.number == 0);
  if (!goes_on && of_manager.number == 0) {
    return Status(ErrorCode::kAborted, fmt::format("no server has been told that this standby has every change: try again in a "
                                                   "moment; {}",
                                                   kForce));
  }
  const bool is_newest = found.newest.epoch == known.epoch || was_begun(what, known, found);
  return goes_on || (is_newest && of_manager.in_step == what.server)
             ? Status()
             : Status(ErrorCode::kAborted,
                      fmt::format("this standby is behind: the manager{} has gone on without it, and changes of names would "
                                  "be lost. Start that one again, if it can be; {}",
                                  found.manager.empty() ? "" : " at " + found.manager, kForce));
}

}  // namespace

Result<wire::Promoted> promote(const Promotion& what, const wire::Promote& request) {
  if (!what.copy.exists()) {
    return Status(ErrorCode::kAborted, "this standby never had a whole copy of the names");
  }
  STRIA_ASSIGN_OR_RETURN(const NamesCopy::Known known, what.copy.known());
  STRIA_ASSIGN_OR_RETURN(const Found found, look(what, known));
  if (!request.even_if_behind) {
    STRIA_RETURN_IF_ERROR(check(what, known, found));
  }
  const bool again = was_begun(what, known, found);
  if (!again || !what.decided_by) {
    what.decided_by = found.newest_of_manager;
  }
  wire::Promoted done;
  done.manager = what.address;
  done.epoch = again ? found.newest.epoch : std::max(found.newest.epoch, known.epoch) + 1;
  const wire::Role fence{.step = wire::RoleStep::kFence,
                         .mark = {.epoch = done.epoch},
                         .manager = what.address,
                         .seen = *what.decided_by,
                         .forced = request.even_if_behind};
  for (const auto& [server, told] : what.calls.ask(found.managers, fence, kRolePatience)) {
    if (!told.ok() && told.status().code() == ErrorCode::kAborted) {
      return told.status().with_context("the manager doesn't let itself be replaced; nothing was changed");
    }
  }
  const auto answers = what.calls.ask(found.voters, fence, kRolePatience);
  std::vector<Roster::Server> unreached;
  Status refused;
  for (const Roster::Server& server : found.voters) {
    const Result<wire::RoleTold>& told = answers.at(server.identity);
    if (!told.ok()) {
      unreached.push_back(server);
      done.unreached.push_back(server.address);
      refused.update(told.status().code() == ErrorCode::kAborted ? told.status() : Status());
    }
  }
  const size_t heard = found.voters.size() - unreached.size();
  if (!request.even_if_behind && (!refused.ok() || heard < enough_to_take_over(found.voters.size()))) {
    return Status(ErrorCode::kAborted,
                  fmt::format("too few servers know of the new manager. These don't: {}{}. Try again; or, if the manager is "
                              "surely lost, {}",
                              names_of(unreached), refused.ok() ? "" : " (" + refused.message() + ")", kForce));
  }
  done.was_reached = what.follower.finish();
  std::vector<wire::Identity> away;
  for (const Roster::Server& server : unreached) {
    away.push_back(server.identity);
  }
  STRIA_RETURN_IF_ERROR(what.become(done, std::move(away)));
  return done;
}

}  // namespace stria::server
