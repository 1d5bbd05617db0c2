#include "server/manager/manager.hpp"

#include <algorithm>

namespace stria::server {

namespace {

constexpr int64_t kDefaultStripeBytes = 256 << 10;
constexpr std::chrono::seconds kAliveFor{10};
// A client that lost its connection has so long to come back to a file that has no name any more.
constexpr std::chrono::seconds kGrace{60};
constexpr int64_t kMostHandlesOfSession = 16384;
constexpr size_t kMostHandles = size_t{1} << 18;

template <typename Message>
Answer answered(const Result<Message>& result) {
  return result.ok() ? Answer{{}, wire::encode(*result)} : Answer{result.status(), {}};
}

Answer answered(const Status& status) {
  return {status, {}};
}

/// Decodes the question and answers it.
template <typename Message, typename Body>
Answer with(const Question& question, Body body) {
  const auto message = wire::decode<Message>(question.body);
  return message.ok() ? answered(body(*message)) : Answer{message.status(), {}};
}

/// True for what must not be done twice.
bool changes_names(const Question& question) {
  using wire::Kind;
  if (question.kind == Kind::kOpen) {
    const auto request = wire::decode<wire::Open>(question.body);
    return request.ok() && request->mode >= wire::OpenMode::kCreate;
  }
  return question.kind == Kind::kRename || question.kind == Kind::kRemove || question.kind == Kind::kMakeDirectory;
}

}  // namespace

Result<std::unique_ptr<Manager>> Manager::open(const std::string& path) {
  STRIA_ASSIGN_OR_RETURN(auto names, Names::open(path));
  auto manager = std::make_unique<Manager>(std::move(names));
  STRIA_ASSIGN_OR_RETURN(const auto nameless, manager->names_->nameless());
  for (const uint64_t file : nameless) {
    manager->nameless_[file] = Clock::now();
  }
  STRIA_ASSIGN_OR_RETURN(const auto servers, manager->names_->servers());
  for (const Names::Server& server : servers) {
    manager->addresses_[server.index] = server.address;
  }
  return manager;
}

Answer Manager::answer(const Question& question) {
  Answer answer = changes_names(question) ? change(question) : dispatch(question);
  const auto held = handle_counts_.find(question.session);
  answer.handles = held == handle_counts_.end() ? 0 : held->second;
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

// The change and the memory of its reply are one transaction: asked again, it is told again and not
// done again.
Answer Manager::change(const Question& question) {
  const auto before = names_->recall(question.session, question.request);
  if (!before.ok()) {
    return {before.status(), {}};
  }
  if (before->has_value()) {
    if (question.kind == wire::Kind::kOpen) {
      const auto request = wire::decode<wire::Open>(question.body);
      const auto opened = wire::decode<wire::Opened>(**before);
      if (request.ok() && opened.ok()) {
        const Status held = reclaim(question, {request->handle, opened->file, request->exclusive});
        return {held, **before};
      }
    }
    return {{}, **before};
  }
  Transaction transaction(names_->database());
  if (!transaction.status().ok()) {
    return {transaction.status(), {}};
  }
  Answer answer = dispatch(question);
  if (answer.status.ok()) {
    answer.status = names_->remember(question.session, question.request, answer.body);
  }
  if (answer.status.ok()) {
    answer.status = transaction.commit();
  }
  if (!answer.status.ok() && question.kind == wire::Kind::kOpen) {
    if (const auto request = wire::decode<wire::Open>(question.body); request.ok()) {
      let_go({question.session, request->handle});
    }
  }
  return answer;
}

Answer Manager::dispatch(const Question& question) {
  using wire::Kind;
  switch (question.kind) {
    case Kind::kOpen:
      return with<wire::Open>(question, [&](const wire::Open& request) { return open_file(question, request); });
    case Kind::kClose:
      return with<wire::Handle>(question, [&](const wire::Handle& handle) {
        let_go({question.session, handle.handle});
        return Status();
      });
    case Kind::kReclaim:
      return with<wire::Handle>(question, [&](const wire::Handle& handle) { return reclaim(question, handle); });
    case Kind::kStat:
      return with<wire::Path>(question, [&](const wire::Path& path) -> Result<wire::Attributes> {
        STRIA_ASSIGN_OR_RETURN(const NamedFile file, names_->find(path.path));
        wire::Attributes attributes{file.is_directory, file.created_ns, {}};
        attributes.place.file = file.file;
        if (!file.is_directory) {
          STRIA_ASSIGN_OR_RETURN(attributes.place, describe(file));
        }
        return attributes;
      });
    case Kind::kRename:
      return with<wire::Rename>(question, [&](const wire::Rename& rename) -> Status {
        STRIA_ASSIGN_OR_RETURN(const auto replaced, names_->rename(rename.from, rename.to));
        return unnamed(replaced);
      });
    case Kind::kRemove:
      return with<wire::Path>(question, [&](const wire::Path& path) -> Status {
        STRIA_ASSIGN_OR_RETURN(const auto removed, names_->remove(path.path));
        return unnamed(removed);
      });
    case Kind::kList:
      return with<wire::List>(question, [&](const wire::List& list) { return names_->list(list.path, list.after); });
    case Kind::kMakeDirectory:
      return with<wire::Path>(question, [&](const wire::Path& path) { return names_->make_directory(path.path); });
    case Kind::kSyncNames:
      return answered(names_->sync());
    case Kind::kServers:
      return answered(servers());
    case Kind::kPulse:
      return with<wire::Pulse>(question, [&](const wire::Pulse& said) { return pulse(said); });
    default:
      return {Status(ErrorCode::kUnsupported, "this server doesn't know that request"), {}};
  }
}

bool Manager::is_alive(int64_t server) const {
  const auto found = alive_.find(server);
  return found != alive_.end() && Clock::now() - found->second.last_pulse < kAliveFor;
}

// The first server goes round, so that small files spread.
Result<Placement> Manager::place(const wire::Open& request) {
  std::vector<int64_t> able;
  for (const auto& [index, address] : addresses_) {
    if (is_alive(index)) {
      able.push_back(index);
    }
  }
  if (able.empty()) {
    return Status(ErrorCode::kIo, "no I/O server of this store is up");
  }
  const auto count = static_cast<int64_t>(able.size());
  Placement placement;
  placement.stripe_bytes = request.stripe_bytes == 0 ? kDefaultStripeBytes : request.stripe_bytes;
  const int64_t wanted = request.server_count == 0 ? count : std::min(request.server_count, count);
  if (!wire::Layout{placement.stripe_bytes, wanted}.valid()) {
    return Status(ErrorCode::kInvalidArgument, "stripes are of 4 KiB to 1 GiB");
  }
  // A server that isn't up is left out as if it were none of the store's.
  const auto named = std::lower_bound(able.begin(), able.end(), request.first_server) - able.begin();
  const int64_t first = request.first_server < 0 ? next_first_++ : named;
  for (int64_t slot = 0; slot < wanted; ++slot) {
    placement.servers.push_back(able[static_cast<size_t>((first + slot) % count)]);
  }
  return placement;
}

Result<wire::Opened> Manager::describe(const NamedFile& file) {
  wire::Opened opened;
  opened.file = file.file;
  opened.stripe_bytes = file.stripe_bytes;
  for (const int64_t server : file.servers) {
    const auto found = addresses_.find(server);
    if (found == addresses_.end()) {
      return Status(ErrorCode::kCorrupted, "the file is on a server that the store doesn't know");
    }
    opened.slots.push_back({server, found->second});
  }
  return opened;
}

Result<wire::Opened> Manager::open_file(const Question& question, const wire::Open& request) {
  const HandleKey key{question.session, request.handle};
  if (handles_.contains(key)) {
    return Status(ErrorCode::kInvalidArgument, "the handle is in use");
  }
  STRIA_RETURN_IF_ERROR(room_for_handle(question.session));
  auto found = names_->find(request.path);
  const bool creates = request.mode == wire::OpenMode::kCreate || request.mode == wire::OpenMode::kCreateNew;
  bool is_new = false;
  if (!found.ok() && found.status().code() == ErrorCode::kNotFound && creates) {
    STRIA_ASSIGN_OR_RETURN(const Placement placement, place(request));
    found = names_->create(request.path, placement);
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
  STRIA_ASSIGN_OR_RETURN(wire::Opened opened, describe(*found));
  opened.cut = request.mode == wire::OpenMode::kCreate && !is_new;
  hold(key, found->file, request.exclusive);
  return opened;
}

void Manager::hold(const HandleKey& key, uint64_t file, bool exclusive) {
  handles_[key] = {file, exclusive};
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
  if (const auto held = handle_counts_.find(key.first); --held->second == 0) {
    handle_counts_.erase(held);
  }
  if (exclusive) {
    locked_.erase(file);
  }
  if (--open_count_[file] > 0) {
    return;
  }
  open_count_.erase(file);
  if (const auto since = nameless_.find(file); since != nameless_.end()) {
    since->second = Clock::now();
  }
}

Status Manager::reclaim(const Question& question, const wire::Handle& handle) {
  const HandleKey key{question.session, handle.handle};
  if (handles_.contains(key)) {
    return {};
  }
  STRIA_RETURN_IF_ERROR(room_for_handle(question.session));
  if (handle.exclusive && locked_.contains(handle.file)) {
    return Status(ErrorCode::kAborted, "the connection was lost, and the file is in use by another program now");
  }
  hold(key, handle.file, handle.exclusive);
  return {};
}

void Manager::session_ended(const wire::Identity& session) {
  std::vector<HandleKey> held;
  for (auto entry = handles_.lower_bound({session, 0}); entry != handles_.end() && entry->first.first == session; ++entry) {
    held.push_back(entry->first);
  }
  for (const HandleKey& key : held) {
    let_go(key);
  }
}

Status Manager::unnamed(std::optional<uint64_t> file) {
  if (file && !open_count_.contains(*file)) {
    return names_->bury(*file);
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
    entry = forgotten && names_->bury(entry->first).ok() ? nameless_.erase(entry) : std::next(entry);
  }
  if (++ticks_ % 600 == 0) {
    static_cast<void>(names_->forget_old_sessions());
  }
}

Result<wire::PulseAnswer> Manager::pulse(const wire::Pulse& said) {
  STRIA_ASSIGN_OR_RETURN(const int64_t index, names_->register_server(said.server, said.address));
  addresses_[index] = said.address;
  alive_[index] = {Clock::now(), said.total_bytes, said.free_bytes};
  STRIA_RETURN_IF_ERROR(names_->removed(index, said.removed));
  wire::PulseAnswer answer;
  answer.index = index;
  STRIA_ASSIGN_OR_RETURN(answer.remove, names_->to_remove(index));
  return answer;
}

Result<wire::StoreServers> Manager::servers() {
  wire::StoreServers list;
  for (const auto& [index, address] : addresses_) {
    wire::StoreServers::Entry entry;
    entry.place = {index, address};
    if (const auto found = alive_.find(index); found != alive_.end()) {
      entry.total_bytes = found->second.total_bytes;
      entry.free_bytes = found->second.free_bytes;
      entry.silent_ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - found->second.last_pulse).count();
    }
    list.servers.push_back(std::move(entry));
  }
  return list;
}

}  // namespace stria::server
