#include "server/connections/watch.hpp"

#include <fmt/format.h>

#include "server/connections/counters.hpp"
#include "wire/quotas.hpp"

namespace stria::server {

namespace {

using wire::Kind;

/// Returns true for what goes to the disk with the parts, and not to the names.
bool is_of_parts(Kind kind) {
  return (kind >= Kind::kWrite && kind <= Kind::kSync) || kind == Kind::kScrub || kind == Kind::kParts ||
         kind == Kind::kMovePart;
}

/// Returns true for what takes as long as others want, or as there is work.
bool may_be_slow(Kind kind) {
  return kind == Kind::kLock || kind == Kind::kScrub || kind == Kind::kParts || kind == Kind::kMovePart ||
         kind == Kind::kFollow || kind == Kind::kPromote;
}

Level level_of(ErrorCode code) {
  return code == ErrorCode::kNoSpace || code == ErrorCode::kAborted ? Level::kWarning : Level::kError;
}

}  // namespace

void Watch::tell(const Event& event) const {
  if (log_ != nullptr) {
    log_->tell(event);
  }
}

void Watch::tidy() {
  if (log_ != nullptr) {
    log_->tidy();
  }
}

DiskHealth::Judgement Watch::judge(const std::string& directory) {
  DiskHealth::Judgement now = disk_.look(directory);
  if (const wire::Condition before = condition_.exchange(now.condition); before == now.condition) {
    return now;
  }
  if (now.condition == wire::Condition::kGood) {
    tell({Level::kInfo, "disk", "the disk takes new files again"});
  } else {
    const Level level = now.condition == wire::Condition::kNearlyFull ? Level::kWarning : Level::kError;
    tell({level, "disk", fmt::format("the disk is {}, and gets no new files: {}", condition_name(now.condition), now.why)});
  }
  return now;
}

void Watch::failed(Kind kind, const Status& why, const std::string& client) {
  if (wire::is_over_quota(why)) {
    tell({Level::kInfo,
          "over_quota",
          fmt::format("{} of client {}: {}", name_of_kind(kind), client, why.message()),
          {{"client", client}}});
    return;
  }
  const bool of_parts = is_of_parts(kind);
  const bool of_disk = of_parts && disk_.note(why);
  const ErrorCode code = why.code();
  const char* what = nullptr;
  if (code == ErrorCode::kCorrupted || code == ErrorCode::kInternal) {
    what = "damaged";
  } else if (code == ErrorCode::kNoSpace) {
    what = "no_space";
  } else if (of_disk) {
    what = "disk_error";
  } else if (of_parts && code == ErrorCode::kAborted) {
    what = "network_error";
  } else if (!of_parts && kind != Kind::kOpen && kind != Kind::kMake &&
             (code == ErrorCode::kIo || code == ErrorCode::kReadOnly)) {
    what = "names_error";
  }
  if (what != nullptr) {
    tell({level_of(code),
          what,
          fmt::format("{} of client {}: {}", name_of_kind(kind), client, why.message()),
          {{"client", client}}});
  }
}

void Watch::broken(const Error& why, const std::string& client) const {
  // These have been told, or are no fault of the network.
  if (why.code() != ErrorCode::kPermissionDenied && why.code() != ErrorCode::kAborted) {
    tell({Level::kWarning, "network_error", fmt::format("client {}: {}", client, why.what()), {{"client", client}}});
  }
}

void Watch::turned_away(const Status& why, const std::string& client) {
  ++clients_refused_;
  tell({Level::kWarning, "client_refused", fmt::format("client {}: {}", client, why.message()), {{"client", client}}});
}

void Watch::cut_off(const std::string& client) const {
  tell({Level::kWarning,
        "client_slow",
        fmt::format("client {} was silent in the middle of a message, and was cut off", client),
        {{"client", client}}});
}

void Watch::answered(Kind kind, std::chrono::nanoseconds time, const std::string& client) {
  if (time < slow_ || may_be_slow(kind)) {
    return;
  }
  ++slow_requests_;
  constexpr double kMsOfSecond = 1000;
  const double seconds = static_cast<double>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()) / kMsOfSecond;
  tell({Level::kWarning,
        "slow_request",
        fmt::format("{} of client {} took {:.1f} s", name_of_kind(kind), client, seconds),
        {{"client", client}, {"seconds", fmt::format("{:.3f}", seconds)}}});
}

}  // namespace stria::server
