#include "server/manager/succession/succession.hpp"

#include <algorithm>
#include <utility>

namespace stria::server {

namespace {

constexpr Caller kForStandby{.user = {}, .trusted = true, .is_super = true};
// Another standby may come once nothing was heard of the one before for so long.
constexpr std::chrono::seconds kAnotherAfter{10};

}  // namespace

Succession::Succession(Names& names, Fleet& fleet, const std::string& copy_path, std::shared_ptr<ChangeStream> stream)
    : names_(names),
      fleet_(fleet),
      stream_(std::move(stream)),
      recorder_(names.database(), names.unsynced()),
      base_(names.database(), copy_path) {}

Status Succession::load() {
  if (stream_ == nullptr) {
    return {};
  }
  Query query = names_.database().query("SELECT value FROM meta WHERE key = 'standby'");
  if (query.next()) {
    wire::Identity standby{};
    const std::vector<std::byte> bytes = query.bytes(0);
    std::copy_n(bytes.begin(), std::min(bytes.size(), standby.size()), standby.begin());
    stream_->had_standby(standby);
  }
  return query.status();
}

uint64_t Succession::record() {
  if (stream_ == nullptr) {
    return 0;
  }
  if (recorder_.records()) {
    auto changes = recorder_.take();
    if (changes.ok()) {
      stream_->add(std::move(*changes));
    } else {
      stream_->leave();
    }
    if (!stream_->is_followed()) {
      recorder_.stop();
    }
  }
  return stream_->last();
}

Status Succession::begin(const wire::Follow& request) {
  if (stream_->standby() != request.standby && stream_->was_heard_within(kAnotherAfter)) {
    return Status(ErrorCode::kAlreadyExists, "the store has another standby: end that one first");
  }
  stream_->leave();
  recorder_.stop();
  STRIA_RETURN_IF_ERROR(
      names_.database().run("INSERT OR REPLACE INTO meta VALUES ('standby', ?)", std::span<const std::byte>(request.standby)));
  names_.unsynced().note();
  return names_.unsynced().sync();
}

Result<wire::Followed> Succession::copy(const Caller& caller, const wire::Follow& request) {
  if (!caller.trusted || stream_ == nullptr) {
    return Status(ErrorCode::kPermissionDenied, "only a server of the store follows its manager");
  }
  if (!kHasSessions) {
    return Status(ErrorCode::kUnsupported,
                  "the manager can't have a standby: it was built with an SQLite that lacks the session extension");
  }
  STRIA_ASSIGN_OR_RETURN(const auto known, voters({}));
  if (std::none_of(known.begin(), known.end(), [&](const auto& each) { return each.identity == request.standby; })) {
    return Status(ErrorCode::kAborted, "the store has not heard of that server yet");
  }
  if (request.number == 0) {
    STRIA_RETURN_IF_ERROR(begin(request));
  }
  STRIA_ASSIGN_OR_RETURN(wire::BackupPart part, base_.answer(kForStandby, {request.number, request.offset}));
  if (part.total_bytes > 0 && recorded_for_ != part.number) {
    // Nothing has changed since the last page was copied.
    STRIA_RETURN_IF_ERROR(recorder_.start());
    stream_->begin(part.number, request.standby);
    recorded_for_ = part.number;
    first_ = stream_->last();
  }
  wire::Followed told;
  told.first = first_;
  told.number = part.number;
  told.total_bytes = part.total_bytes;
  told.copy = std::move(part.bytes);
  return told;
}

bool Succession::is_unsure() const {
  return stream_ != nullptr && stream_->state() == ChangeStream::State::kUnsure;
}

Result<wire::PulseAnswer> Succession::checked(Result<wire::PulseAnswer> answer, uint16_t version) const {
  STRIA_RETURN_IF_ERROR(answer.status());
  answer->epoch = epoch();
  if (epoch() > 0 && version < wire::kVersionWithEpochs) {
    return Status(ErrorCode::kUnsupported,
                  "a standby has become this store's manager, which a server of the version before can't know: upgrade it");
  }
  if (is_unsure()) {
    answer->remove.clear();
  }
  return answer;
}

Result<int64_t> Succession::number_of(std::string_view key) {
  Query query = names_.database().query("SELECT value FROM meta WHERE key = CAST(? AS TEXT)", key);
  const int64_t value = query.next() ? query.number(0) : 0;
  STRIA_RETURN_IF_ERROR(query.status());
  return value;
}

Result<wire::Mark> Succession::next_mark(const wire::Identity& in_step, uint64_t newest) {
  STRIA_ASSIGN_OR_RETURN(const int64_t kept, number_of("mark"));
  const int64_t before = std::max(kept, static_cast<int64_t>(newest));
  STRIA_RETURN_IF_ERROR(names_.database().run("INSERT OR REPLACE INTO meta VALUES ('mark', ?)", before + 1));
  names_.unsynced().note();
  STRIA_RETURN_IF_ERROR(names_.unsynced().sync());
  return wire::Mark{epoch(), static_cast<uint64_t>(before + 1), in_step};
}

Result<std::vector<Roster::Server>> Succession::voters(const wire::Identity& standby) {
  STRIA_ASSIGN_OR_RETURN(auto servers, fleet_.roster().servers());
  std::erase_if(servers, [&](const Roster::Server& server) { return server.retired || server.identity == standby; });
  return servers;
}

}  // namespace stria::server
