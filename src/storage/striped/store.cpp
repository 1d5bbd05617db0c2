#include "storage/striped/store.hpp"

#include <utility>

#include "base/check.hpp"
#include "wire/moves.hpp"
#include "wire/standby.hpp"

namespace stria::storage {

namespace {

constexpr size_t kMostGathered = 64;

Status check_layout(const wire::Opened& opened) {
  const wire::Layout layout{opened.stripe_bytes, static_cast<int64_t>(opened.slots.size())};
  return layout.valid() ? Status() : Status(ErrorCode::kFormat, "the manager tells of a file that no server keeps");
}

}  // namespace

Result<std::shared_ptr<Store>> Store::at(const std::string& address) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Store>> stores;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Store>& store = stores[address];
  if (store == nullptr) {
    STRIA_ASSIGN_OR_RETURN(const auto places, wire::parse_addresses(address));
    STRIA_ASSIGN_OR_RETURN(auto key, wire::Key::from_environment());
    STRIA_ASSIGN_OR_RETURN(const Encryption encryption, encryption_from_environment());
    store = std::make_shared<Store>(places, std::move(key), encryption);
  }
  return store;
}

Store::Store(std::vector<wire::Address> managers, std::shared_ptr<const wire::Key> key, Encryption encryption)
    : key_(std::move(key)), encryption_(encryption), manager_(std::move(managers), key_, encryption) {
  manager_.after_greeting = [this](ServerLink& link, Clock::time_point deadline) { return take_up_handles(link, deadline); };
}

uint32_t Store::uid() const {
  return key_ == nullptr ? wire::this_user().uid : key_->claim().user.uid;
}

// Called while the connection to the manager is made, with its mutex held.
Status Store::take_up_handles(ServerLink& link, Clock::time_point deadline) {
  for (auto& [number, open] : handles_) {
    if (!open.state.ok()) {
      continue;
    }
    const Status answer = link.ask(wire::Kind::kReclaim, wire::encode(open.handle), deadline).status();
    if (answer.code() == ErrorCode::kIo || wire::is_no_manager(answer)) {
      return answer;
    }
    open.state = answer;
  }
  return {};
}

Result<std::vector<std::byte>> Store::ask_manager_locked(wire::Kind kind, std::vector<std::byte> body,
                                                         std::chrono::milliseconds patience) {
  Call call;
  call.link = &manager_;
  call.kind = kind;
  call.body = std::move(body);
  call.patience = patience;
  STRIA_RETURN_IF_ERROR(run_calls({&call, 1}));
  return std::move(call.reply);
}

Result<std::vector<std::byte>> Store::ask_manager(wire::Kind kind, std::vector<std::byte> body,
                                                  std::chrono::milliseconds patience) {
  const std::lock_guard lock(manager_mutex_);
  if (kind == wire::Kind::kRemove || kind == wire::Kind::kRename) {
    STRIA_RETURN_IF_ERROR(give_up_closed_locked());
  }
  return ask_manager_locked(kind, std::move(body), patience);
}

Result<wire::Opened> Store::open(wire::Open& request) {
  const std::lock_guard lock(manager_mutex_);
  request.handle = ++last_handle_;
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_manager_locked(wire::Kind::kOpen, wire::encode(request)));
  STRIA_ASSIGN_OR_RETURN(wire::Opened opened, wire::decode<wire::Opened>(reply));
  STRIA_RETURN_IF_ERROR(check_layout(opened));
  hold_locked(request, opened);
  return opened;
}

Result<wire::Made> Store::make(wire::Open& request) {
  const std::lock_guard lock(manager_mutex_);
  request.handle = ++last_handle_;
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_manager_locked(wire::Kind::kMake, wire::encode(request)));
  STRIA_ASSIGN_OR_RETURN(wire::Made made, wire::decode<wire::Made>(reply));
  STRIA_RETURN_IF_ERROR(check_layout(made.opened));
  hold_locked(request, made.opened);
  return made;
}

void Store::hold_locked(const wire::Open& request, const wire::Opened& opened) {
  STRIA_CHECK(!handles_.contains(request.handle), request.handle);
  handles_[request.handle] = {
      {.handle = request.handle, .file = opened.file, .exclusive = request.exclusive, .rights = opened.ticket.rights},
      Status()};
}

Result<wire::Renewed> Store::claim_locked(const wire::Handle& handle, std::chrono::milliseconds patience) {
  STRIA_ASSIGN_OR_RETURN(const auto reply, ask_manager_locked(wire::Kind::kReclaim, wire::encode(handle), patience));
  return wire::decode<wire::Renewed>(reply);
}

Result<Store::Again> Store::open_again(uint64_t file, uint8_t rights) {
  const std::lock_guard lock(manager_mutex_);
  const wire::Handle handle{.handle = ++last_handle_, .file = file, .rights = rights};
  STRIA_ASSIGN_OR_RETURN(const wire::Renewed good, claim_locked(handle));
  handles_[handle.handle] = {handle, Status()};
  return Again{handle.handle, good};
}

Result<wire::Renewed> Store::renew(uint64_t handle, std::chrono::milliseconds patience) {
  const std::lock_guard lock(manager_mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) {
    return Status(ErrorCode::kInternal, "an unknown handle");
  }
  const wire::Handle held = found->second.handle;
  return claim_locked(held, patience);
}

Result<uint64_t> Store::number() {
  const std::lock_guard lock(manager_mutex_);
  if (manager_.generation() == 0) {
    STRIA_RETURN_IF_ERROR(ask_manager_locked(wire::Kind::kStat, wire::encode(wire::Path{"/"})).status());
  }
  // A standby that has taken over doesn't change what a file is.
  first_manager_ = first_manager_.value_or(manager_.server_identity());
  wire::Reader reader(*first_manager_);
  return reader.fixed<uint64_t>();
}

Status Store::handle_state(uint64_t handle) {
  const std::lock_guard lock(manager_mutex_);
  const auto found = handles_.find(handle);
  return found == handles_.end() ? Status(ErrorCode::kInternal, "an unknown handle") : found->second.state;
}

Status Store::close(uint64_t handle) {
  const std::lock_guard lock(manager_mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) {
    return Status(ErrorCode::kInternal, "an unknown handle");
  }
  const OpenHandle open = found->second;
  // Erased first, so that a new connection doesn't restore a handle that is being closed.
  handles_.erase(found);
  if (gathers_closes_ && !open.handle.exclusive && open.state.ok()) {
    closed_.push_back(open.handle);
    return closed_.size() < kMostGathered ? Status() : give_up_closed_locked();
  }
  const Status closed = ask_manager_locked(wire::Kind::kClose, wire::encode(open.handle)).status();
  return open.state.ok() ? closed : open.state;
}

void Store::gather_closes() {
  const std::lock_guard lock(manager_mutex_);
  gathers_closes_ = true;
}

Status Store::give_up_closed() {
  const std::lock_guard lock(manager_mutex_);
  return give_up_closed_locked();
}

// Where the connection was lost meanwhile, they are given up already, which does no harm.
Status Store::give_up_closed_locked() {
  const std::vector<wire::Handle> closed = std::exchange(closed_, {});
  if (closed.empty()) {
    return {};
  }
  wire::Handles handles;
  for (const wire::Handle& each : closed) {
    handles.handles.push_back(each.handle);
  }
  const Status given_up = ask_manager_locked(wire::Kind::kCloseAll, wire::encode(handles)).status();
  if (given_up.code() != ErrorCode::kUnsupported) {
    return given_up;
  }
  Status outcome;
  for (const wire::Handle& each : closed) {
    outcome.update(ask_manager_locked(wire::Kind::kClose, wire::encode(each)).status());
  }
  return outcome;
}

Result<Store::Borrowed> Store::borrow(const std::shared_ptr<Store>& store, const std::string& address) {
  {
    const std::lock_guard lock(store->idle_mutex_);
    if (auto found = store->idle_.find(address); found != store->idle_.end()) {
      auto link = std::move(found->second);
      store->idle_.erase(found);
      return Borrowed(store, address, std::move(link));
    }
  }
  STRIA_ASSIGN_OR_RETURN(const wire::Address place, wire::Address::parse(address));
  auto link = std::make_unique<ServerLink>(place, store->key_, store->encryption_);
  link->surely_there = true;
  return Borrowed(store, address, std::move(link));
}

void Store::give_back(const std::string& address, std::unique_ptr<ServerLink> link) {
  STRIA_CHECK(link != nullptr, address);
  const std::lock_guard lock(idle_mutex_);
  idle_.emplace(address, std::move(link));
}

Store::Borrowed::~Borrowed() {
  if (link_ != nullptr) {
    store_->give_back(address_, std::move(link_));
  }
}

Result<std::vector<wire::ServerPlace>> ask_where(Store& store, uint64_t file, std::chrono::milliseconds patience) {
  STRIA_ASSIGN_OR_RETURN(const auto reply, store.ask_manager(wire::Kind::kWhere, wire::encode(wire::Where{file}), patience));
  STRIA_ASSIGN_OR_RETURN(auto places, wire::decode<wire::Places>(reply));
  return std::move(places.slots);
}

bool may_have_moved(const Status& outcome) {
  // A server that has given it away says that it isn't there; later, that it was removed there; and
  // once it was taken out of the store, nothing.
  return outcome.code() == ErrorCode::kNotFound || outcome.code() == ErrorCode::kCorrupted || outcome.code() == ErrorCode::kIo;
}

Result<wire::Conditions> ask_conditions(Store& store) {
  const auto reply = store.ask_manager(wire::Kind::kConditions, {});
  if (reply.status().code() == ErrorCode::kUnsupported) {
    return wire::Conditions();
  }
  STRIA_RETURN_IF_ERROR(reply.status());
  return wire::decode<wire::Conditions>(*reply);
}

}  // namespace stria::storage
