#include "server/manager/manager.hpp"

#include <utility>

#include "base/check.hpp"
#include "server/manager/database/names_fields.hpp"

namespace stria::server {

namespace {

// A client that lost its connection has so long to come back to a file that has no name any more.
constexpr std::chrono::seconds kGrace{60};
constexpr int64_t kNsOfMs = 1000000;
constexpr int64_t kMostHandlesOfSession = 16384;
constexpr size_t kMostHandles = size_t{1} << 18;

template <typename Message>
Answer answered(const Result<Message>& result, uint16_t version) {
  return result.ok() ? Answer{{}, wire::encode(*result, version)} : Answer{result.status(), {}};
}

Answer answered(const Status& status, uint16_t) {
  return {status, {}};
}

/// Decodes the question and answers it.
template <typename Message, typename Body>
Answer with(const Question& question, Body body) {
  const auto message = wire::decode<Message>(question.body, question.version);
  return message.ok() ? answered(body(*message), question.version) : Answer{message.status(), {}};
}

/// A request to open a file has a handle, and what a manager says of it is good for a while only.
bool opens(const Question& question) {
  return question.kind == wire::Kind::kOpen || question.kind == wire::Kind::kMake;
}

wire::Opened& opened_in(wire::Opened& reply) {
  return reply;
}

wire::Opened& opened_in(wire::Made& reply) {
  return reply.opened;
}

/// True for what must not be done twice.
bool changes_names(const Question& question) {
  using wire::Kind;
  if (opens(question)) {
    const auto request = wire::decode<wire::Open>(question.body);
    return request.ok() && request->mode >= wire::OpenMode::kCreate;
  }
  return question.kind == Kind::kRename || question.kind == Kind::kRemove || question.kind == Kind::kMakeDirectory ||
         question.kind == Kind::kSetOwnership || question.kind == Kind::kAdopt || question.kind == Kind::kDiscard ||
         question.kind == Kind::kMoveCommit || Tree::changes(question.kind);
}

Answer about_quotas(Quotas& quotas, const Question& question) {
  using wire::Kind;
  const Caller& caller = question.caller;
  switch (question.kind) {
    case Kind::kSetQuota:
      return with<wire::SetQuota>(question, [&](const wire::SetQuota& wanted) { return quotas.set(caller, wanted); });
    case Kind::kQuotas:
      return answered(quotas.list(caller), question.version);
    case Kind::kUsage:
      return with<wire::Usage>(question, [&](const wire::Usage& usage) -> Result<wire::UsageAnswer> {
        return caller.trusted ? quotas.hear(usage)
                              : Status(ErrorCode::kPermissionDenied, "only a server of the store tells sizes of its parts");
      });
    default:
      return {Status(ErrorCode::kUnsupported, "this server doesn't know that request"), {}};
  }
}

Answer about_moves(Moves& moves, Quotas& quotas, const Question& question, bool unsure) {
  using wire::Kind;
  const Caller& caller = question.caller;
  switch (question.kind) {
    case Kind::kMoveBegin:
      return with<wire::MoveBegin>(
          question, [&](const wire::MoveBegin& request) { return moves.begin(caller, question.session, request); });
    case Kind::kMoveCommit:
      return with<wire::MoveOf>(question, [&](const wire::MoveOf& move) { return moves.commit(caller, move); });
    case Kind::kMoveAbort:
      return with<wire::MoveOf>(question, [&](const wire::MoveOf& move) { return moves.undo(caller, move); });
    case Kind::kMoving:
      return with<wire::MovesAsked>(question, [&](const wire::MovesAsked& asked) -> Result<wire::MovesTold> {
        return caller.trusted ? moves.ask(asked, unsure)
                              : Status(ErrorCode::kPermissionDenied, "only a server of the store asks for its parts' moves");
      });
    case Kind::kWhere:
      return with<wire::Where>(question, [&](const wire::Where& request) { return moves.where(request); });
    default:
      return about_quotas(quotas, question);
  }
}

Answer about_tree(Tree& tree, Quotas& quotas, const Question& question) {
  using wire::Kind;
  auto answer = tree.answer(question.caller, question.kind, question.body);
  if (!answer.ok()) {
    return {answer.status(), {}};
  }
  if (question.kind == Kind::kChange) {
    quotas.changed();
  } else if (question.kind == Kind::kMakeLink || question.kind == Kind::kLinkName) {
    const Answer noted = with<wire::NewLink>(question, [&](const wire::NewLink& link) { return quotas.came(link.path); });
    if (!noted.status.ok()) {
      return noted;
    }
  }
  return {{}, std::move(*answer)};
}

/// Returns where a copy of the names is made.
std::string beside(const std::string& path, const char* ending) {
  return path.substr(0, path.rfind('.')) + ending;
}

/// Returns true for what holds even if the manager was replaced a moment ago: servers look at its
/// epoch themselves.
bool may_be_unsure(const Question& question) {
  using wire::Kind;
  return question.kind == Kind::kPulse || question.kind == Kind::kCondition || question.kind == Kind::kUsage ||
         question.kind == Kind::kMoving || question.kind == Kind::kServers || question.kind == Kind::kConditions;
}

}  // namespace

Manager::Manager(std::unique_ptr<Names> names, const std::string& path, const Options& options)
    : names_(std::move(names)),
      fleet_(*names_, options.log),
      replies_(names_->database()),
      backup_(names_->database(), beside(path, ".backup")),
      moves_(*names_, fleet_),
      quotas_(*names_, fleet_),
      check_(*names_, moves_, [this](uint64_t file) { return open_count_.contains(file); }),
      tree_(*names_, fleet_, [this](uint64_t file) { return ticket_for(file, 0).ticket; }),
      succession_(*names_, fleet_, beside(path, ".base"), options.stream),
      stream_(options.stream),
      ticket_life_(options.ticket_life) {
  fleet_.lives_with(options.server);
  names_->database().shorten_log_later();
}

Result<std::unique_ptr<Manager>> Manager::open(const std::string& path, const Options& options) {
  STRIA_ASSIGN_OR_RETURN(auto names, Names::open(path));
  auto manager = std::make_unique<Manager>(std::move(names), path, options);
  STRIA_ASSIGN_OR_RETURN(const auto nameless, manager->names_->nameless());
  for (const uint64_t file : nameless) {
    manager->nameless_[file] = Clock::now();
  }
  STRIA_RETURN_IF_ERROR(manager->fleet_.load());
  for (const wire::Identity& server : options.away) {
    manager->fleet_.is_away(server);
  }
  STRIA_RETURN_IF_ERROR(manager->moves_.load());
  STRIA_RETURN_IF_ERROR(manager->quotas_.load());
  STRIA_RETURN_IF_ERROR(manager->succession_.load());
  return manager;
}

bool Manager::is_too_early(const Question& question) {
  if (!opens(question) || fleet_.has_settled()) {
    return false;
  }
  const auto request = wire::decode<wire::Open>(question.body);
  return request.ok() && request->mode >= wire::OpenMode::kCreate &&
         names_->find(question.caller, request->path).status().code() == ErrorCode::kNotFound;
}

// What is answered at once was found while the manager was unsure all the time, and so leaves out
// what may be undone.
Answer Manager::answer(const Question& question) {
  if (is_too_early(question)) {
    Answer later{Status(ErrorCode::kIo, "the manager has just started, and waits for the store's servers"), {}};
    later.too_early = true;
    return later;
  }
  const bool was_unsure = succession_.is_unsure();
  Answer answer = changes_names(question) ? change(question) : dispatch(question);
  const auto held = handle_counts_.find(question.session);
  answer.handles = held == handle_counts_.end() ? 0 : held->second;
  const uint64_t change = succession_.record();
  const bool at_once = stream_ == nullptr || question.kind == wire::Kind::kFollow ||
                       (may_be_unsure(question) && was_unsure && succession_.is_unsure());
  answer.after_change = at_once ? std::nullopt : std::optional(change);
  answer.log_is_long = names_->database().log_is_long();
  return answer;
}

Status Manager::room_for_handle(const wire::Identity& session) const {
  const auto held = handle_counts_.find(session);
  if (held != handle_counts_.end() && held->second >= kMostHandlesOfSession) {
    return Status(ErrorCode::kResourceExhausted,
                  "this client has " + std::to_string(kMostHandlesOfSession) + " files open: close some first");
  }
  if (handles_.size() >= kMostHandles) {
    return Status(ErrorCode::kResourceExhausted, "the store's clients have " + std::to_string(kMostHandles) + " files open");
  }
  return {};
}

Answer Manager::change(const Question& question) {
  const bool adds = opens(question) || question.kind == wire::Kind::kMakeDirectory || Tree::changes(question.kind);
  if (adds) {
    return change_once(question);
  }
  Answer answer;
  answer.status = with_reserve(names_->reserve(), [&] {
    answer = change_once(question);
    return answer.status;
  });
  return answer;
}

template <typename Reply>
Answer Manager::open_as_before(const Question& question, std::span<const std::byte> before) {
  const auto request = wire::decode<wire::Open>(question.body);
  auto reply = wire::decode<Reply>(before);
  if (!request.ok() || !reply.ok()) {
    return {request.ok() ? reply.status() : request.status(), {}};
  }
  wire::Opened& opened = opened_in(*reply);
  const auto held = reclaim(question, {request->handle, opened.file, request->exclusive, opened.ticket.rights});
  if (held.ok()) {
    opened.ticket = held->ticket;
    opened.ticket_ms = held->ticket_ms;
  }
  return {held.status(), wire::encode(*reply)};
}

// The change and the memory of its reply are one transaction: asked again, it is told again and not
// done again.
Answer Manager::change_once(const Question& question) {
  const auto before = replies_.recall(question.session, question.request);
  if (!before.ok()) {
    return {before.status(), {}};
  }
  if (before->has_value()) {
    switch (question.kind) {
      case wire::Kind::kOpen:
        return open_as_before<wire::Opened>(question, **before);
      case wire::Kind::kMake:
        return open_as_before<wire::Made>(question, **before);
      default:
        return {{}, **before};
    }
  }
  Transaction transaction(names_->database());
  if (!transaction.status().ok()) {
    return {transaction.status(), {}};
  }
  Answer answer = dispatch(question);
  if (answer.status.ok()) {
    answer.status = replies_.remember(question.session, question.request, answer.body);
  }
  if (answer.status.ok()) {
    answer.status = transaction.commit();
  }
  if (!answer.status.ok() && opens(question)) {
    if (const auto request = wire::decode<wire::Open>(question.body); request.ok()) {
      let_go({question.session, request->handle});
    }
  }
  return answer;
}

Answer Manager::dispatch(const Question& question) {
  using wire::Kind;
  if (Tree::knows(question.kind)) {
    return about_tree(tree_, quotas_, question);
  }
  switch (question.kind) {
    case Kind::kOpen:
      return with<wire::Open>(question, [&](const wire::Open& request) { return open_file(question, request); });
    case Kind::kMake:
      return with<wire::Open>(question, [&](const wire::Open& request) { return make_file(question, request); });
    case Kind::kCloseAll:
      return with<wire::Handles>(question, [&](const wire::Handles& closed) {
        for (const uint64_t handle : closed.handles) {
          let_go({question.session, handle});
        }
        return Status();
      });
    case Kind::kClose:
      return with<wire::Handle>(question, [&](const wire::Handle& handle) {
        let_go({question.session, handle.handle});
        return Status();
      });
    case Kind::kReclaim:
      return with<wire::Handle>(question, [&](const wire::Handle& handle) { return reclaim(question, handle); });
    case Kind::kStat:
      return with<wire::Path>(question, [&](const wire::Path& path) { return stat(question, path.path); });
    case Kind::kRename:
      return with<wire::Rename>(question, [&](const wire::Rename& rename) -> Status {
        STRIA_RETURN_IF_ERROR(check_renamed(question, rename.from));
        STRIA_ASSIGN_OR_RETURN(const auto replaced, names_->rename(question.caller, rename));
        STRIA_RETURN_IF_ERROR(quotas_.came(rename.to));
        return unnamed(replaced);
      });
    case Kind::kRemove:
      return with<wire::Path>(question, [&](const wire::Path& path) -> Status {
        STRIA_ASSIGN_OR_RETURN(const auto removed, names_->remove(question.caller, path.path));
        quotas_.changed();
        return unnamed(removed);
      });
    case Kind::kList:
      return with<wire::List>(question, [&](const wire::List& list) { return names_->list(question.caller, list); });
    case Kind::kMakeDirectory:
      return with<wire::NewDirectory>(question, [&](const wire::NewDirectory& what) -> Status {
        STRIA_RETURN_IF_ERROR(names_->make_directory(question.caller, what));
        return quotas_.came(what.path);
      });
    case Kind::kSetOwnership:
      return with<wire::SetOwnership>(question, [&](const wire::SetOwnership& change) {
        quotas_.changed();
        return names_->set_ownership(question.caller, change);
      });
    case Kind::kSyncNames:
      return answered(with_reserve(names_->reserve(), [&] { return names_->unsynced().sync(); }), question.version);
    case Kind::kServers:
      return answered(Result<wire::StoreServers>(fleet_.servers()), question.version);
    case Kind::kRetire:
      return with<wire::Retire>(question, [&](const wire::Retire& request) { return fleet_.retire(question.caller, request); });
    case Kind::kPulse:
    case Kind::kCondition:
      if (!question.caller.trusted) {
        return {Status(ErrorCode::kPermissionDenied,
                       "a server joins with the cluster's key, or by MUNGE as root or the manager's user"),
                {}};
      }
      return question.kind == Kind::kPulse
                 ? with<wire::Pulse>(
                       question,
                       [&](const wire::Pulse& said) { return succession_.checked(fleet_.pulse(said), question.version); })
                 : with<wire::ServerCondition>(question, [&](const wire::ServerCondition& said) { return fleet_.hear(said); });
    default:
      return dispatch_upkeep(question);
  }
}

Answer Manager::dispatch_upkeep(const Question& question) {
  using wire::Kind;
  const Caller& caller = question.caller;
  switch (question.kind) {
    case Kind::kConditions:
      return answered(Result<wire::Conditions>(fleet_.conditions()), question.version);
    case Kind::kNewFiles:
      return with<wire::NewFiles>(question,
                                  [&](const wire::NewFiles& request) { return fleet_.set_new_files(caller, request); });
    case Kind::kBackup:
      return with<wire::Backup>(question, [&](const wire::Backup& request) { return backup_.answer(caller, request); });
    case Kind::kFollow:
      return with<wire::Follow>(question, [&](const wire::Follow& request) { return succession_.copy(caller, request); });
    case Kind::kNamed:
      return with<wire::Named>(question, [&](const wire::Named& request) { return check_.list(caller, request); });
    case Kind::kKnown:
      return with<wire::PartsOf>(question, [&](const wire::PartsOf& request) { return check_.known(caller, request); });
    case Kind::kPaths:
      return with<wire::PartsOf>(question, [&](const wire::PartsOf& request) { return check_.paths(caller, request); });
    case Kind::kAdopt:
      return with<wire::Adopt>(question, [&](const wire::Adopt& request) { return check_.adopt(caller, request); });
    case Kind::kDiscard:
      return with<wire::PartsOf>(question, [&](const wire::PartsOf& request) { return check_.discard(caller, request); });
    default:
      return about_moves(moves_, quotas_, question, succession_.is_unsure());
  }
}

// A program that has written a file, and still has it for itself, is about to say that it is
// complete. It isn't, where one of its servers has ended meanwhile: a part may never have been
// synced, and nobody can open the file. Other renames don't need the servers.
Status Manager::check_renamed(const Question& question, const std::string& from) {
  if (!fleet_.anyone_left()) {
    return {};
  }
  const auto file = names_->find(question.caller, from);
  if (!file.ok() || file->is_directory) {
    return {};
  }
  const auto held = locked_.find(file->file);
  return held != locked_.end() && held->second.first == question.session ? fleet_.check_present(file->servers) : Status();
}

wire::Renewed Manager::ticket_for(uint64_t file, uint8_t rights) const {
  const auto life = static_cast<uint64_t>(ticket_life_.count());
  return {wire::issue_ticket(names_->seals().tickets, file, rights, static_cast<uint64_t>(now_ns() / kNsOfMs) + life), life};
}

Result<wire::Attributes> Manager::stat(const Question& question, const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(const NamedFile file, names_->find(question.caller, path));
  wire::Attributes attributes{file.is_directory, file.created_ns, file.owner, {}};
  attributes.place.file = file.file;
  if (!file.is_directory) {
    const int rights = rights_of(question.caller, file.owner) & (wire::kMayRead | wire::kMayWrite);
    STRIA_ASSIGN_OR_RETURN(attributes.place, describe(file, static_cast<uint8_t>(rights)));
  }
  return attributes;
}

Result<wire::Opened> Manager::describe(const NamedFile& file, uint8_t rights) {
  wire::Opened opened;
  opened.file = file.file;
  const wire::Renewed good = ticket_for(file.file, rights);
  opened.ticket = good.ticket;
  opened.ticket_ms = good.ticket_ms;
  opened.stripe_bytes = file.stripe_bytes;
  STRIA_RETURN_IF_ERROR(fleet_.describe(file.servers, opened.slots));
  return opened;
}

Result<wire::Opened> Manager::open_file(const Question& question, const wire::Open& request) {
  const HandleKey key{question.session, request.handle};
  if (handles_.contains(key)) {
    return Status(ErrorCode::kInvalidArgument, "the handle is in use");
  }
  STRIA_RETURN_IF_ERROR(room_for_handle(question.session));
  // A new name must not be a symbolic link's, wherever that leads.
  auto found = names_->find(question.caller, request.path, request.mode != wire::OpenMode::kCreateNew);
  const bool creates = request.mode == wire::OpenMode::kCreate || request.mode == wire::OpenMode::kCreateNew;
  bool is_new = false;
  if (!found.ok() && found.status().code() == ErrorCode::kNotFound && creates) {
    STRIA_ASSIGN_OR_RETURN(const Placement placement, fleet_.place(request));
    STRIA_RETURN_IF_ERROR(quotas_.may_make(question.caller, request.path));
    found = names_->create(question.caller, {request.path, request.permissions}, placement);
    STRIA_RETURN_IF_ERROR(found.ok() ? quotas_.came(request.path) : Status());
    is_new = true;
  }
  STRIA_RETURN_IF_ERROR(found.status());
  if (found->is_directory) {
    return Status(ErrorCode::kInvalidArgument, "it is a directory");
  }
  if (request.mode == wire::OpenMode::kCreateNew && !is_new) {
    return Status(ErrorCode::kAlreadyExists, "File exists");
  }
  if (request.exclusive && locked_.contains(found->file)) {
    return Status(ErrorCode::kAlreadyExists, "in use by another program");
  }
  const auto rights = static_cast<uint8_t>(wire::kMayRead | (request.mode == wire::OpenMode::kRead ? 0 : wire::kMayWrite));
  if (!is_new) {
    STRIA_RETURN_IF_ERROR(check_rights(question.caller, found->owner, rights));
  }
  STRIA_ASSIGN_OR_RETURN(wire::Opened opened, describe(*found, rights));
  STRIA_RETURN_IF_ERROR(wire::check_servers(opened));
  opened.cut = request.mode == wire::OpenMode::kCreate && !is_new;
  hold(key, found->file, request.exclusive);
  return opened;
}

Result<wire::Made> Manager::make_file(const Question& question, const wire::Open& request) {
  if (request.mode != wire::OpenMode::kCreateNew) {
    return Status(ErrorCode::kInvalidArgument, "a file that is made is new");
  }
  STRIA_ASSIGN_OR_RETURN(wire::Opened opened, open_file(question, request));
  return tree_.made(question.caller, request.path, std::move(opened));
}

void Manager::hold(const HandleKey& key, uint64_t file, bool exclusive) {
  const bool is_new = handles_.emplace(key, std::pair(file, exclusive)).second;
  STRIA_CHECK(is_new && (!exclusive || !locked_.contains(file)), file, exclusive, is_new);
  ++handle_counts_[key.first];
  ++open_count_[file];
  if (exclusive) {
    locked_[file] = key;
  }
}

void Manager::let_go(const HandleKey& key) {
  const auto found = handles_.find(key);
  if (found == handles_.end()) {
    return;
  }
  const auto [file, exclusive] = found->second;
  handles_.erase(found);
  const auto held = handle_counts_.find(key.first);
  STRIA_CHECK(held != handle_counts_.end(), file);
  if (--held->second == 0) {
    handle_counts_.erase(held);
  }
  if (exclusive) {
    const auto lock = locked_.find(file);
    STRIA_CHECK(lock != locked_.end() && lock->second == key, file);
    locked_.erase(lock);
  }
  const auto open = open_count_.find(file);
  STRIA_CHECK(open != open_count_.end(), file);
  if (--open->second > 0) {
    return;
  }
  open_count_.erase(open);
  if (const auto since = nameless_.find(file); since != nameless_.end()) {
    since->second = Clock::now();
  }
}

Result<wire::Renewed> Manager::reclaim(const Question& question, const wire::Handle& handle) {
  STRIA_ASSIGN_OR_RETURN(const wire::Ownership owner, names_->owner_of(handle.file));
  if (!owns(question.caller, owner)) {
    STRIA_RETURN_IF_ERROR(check_rights(question.caller, owner, handle.rights));
  }
  const wire::Renewed renewed = ticket_for(handle.file, handle.rights);
  const HandleKey key{question.session, handle.handle};
  if (const auto held = handles_.find(key); held != handles_.end()) {
    return held->second.first == handle.file ? Result<wire::Renewed>(renewed)
                                             : Status(ErrorCode::kInvalidArgument, "the handle is another file's");
  }
  STRIA_RETURN_IF_ERROR(room_for_handle(question.session));
  if (handle.exclusive && locked_.contains(handle.file)) {
    return Status(ErrorCode::kAborted, "the connection was lost, and the file is in use by another program now");
  }
  hold(key, handle.file, handle.exclusive);
  return renewed;
}

void Manager::session_ended(const wire::Identity& session) {
  moves_.session_ended(session);
  std::vector<HandleKey> held;
  for (auto entry = handles_.lower_bound({session, 0}); entry != handles_.end() && entry->first.first == session; ++entry) {
    held.push_back(entry->first);
  }
  for (const HandleKey& key : held) {
    let_go(key);
  }
  succession_.record();
}

Status Manager::unnamed(std::optional<uint64_t> file) {
  if (file && !open_count_.contains(*file)) {
    return fleet_.roster().bury(*file);
  }
  if (file) {
    nameless_[*file] = Clock::now();
  }
  return {};
}

void Manager::tidy() {
  for (auto entry = nameless_.begin(); entry != nameless_.end();) {
    const bool forgotten = !open_count_.contains(entry->first) && Clock::now() - entry->second > kGrace;
    // What can't be noted now is tried again.
    const bool buried = forgotten && with_reserve(names_->reserve(), [&] { return fleet_.roster().bury(entry->first); }).ok();
    entry = buried ? nameless_.erase(entry) : std::next(entry);
  }
  names_->reserve().keep();
  fleet_.tidy();
  backup_.tidy();
  quotas_.tidy();
  if (++ticks_ % 600 == 0) {
    static_cast<void>(replies_.forget_old_sessions());
  }
  succession_.tidy();
  succession_.record();
  names_->database().shorten_log();
}

}  // namespace stria::server
