#include "storage/striped/slot_servers.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "wire/trust/ticket.hpp"

namespace stria::storage {

namespace {

// A client pauses so long until a part that is on its way has come.
constexpr std::chrono::milliseconds kPauseAtFirst{5};
constexpr std::chrono::milliseconds kLongestPause{200};
// Where a server doesn't answer, the manager may be as far away.
constexpr std::chrono::milliseconds kShortPatience{1000};

}  // namespace

SlotServers::SlotServers(std::shared_ptr<Store> store, const wire::Opened& opened, uint64_t handle)
    : store_(std::move(store)),
      file_(opened.file),
      pass_(store_, handle, {opened.ticket, opened.ticket_ms}),
      layout_{opened.stripe_bytes, static_cast<int64_t>(opened.slots.size())} {
  places_ = opened.slots;
  STRIA_CHECK(layout_.valid(), layout_.stripe_bytes, layout_.slot_count);
}

Result<wire::Opened> SlotServers::open_again(uint8_t rights, uint64_t& handle) const {
  STRIA_ASSIGN_OR_RETURN(const auto again, store_->open_again(file_, rights));
  handle = again.handle;
  const std::lock_guard lock(places_mutex_);
  return wire::Opened{file_, layout_.stripe_bytes, false, places_, again.good.ticket, again.good.ticket_ms};
}

uint64_t SlotServers::part(int64_t slot) const {
  STRIA_CHECK(0 <= slot && slot < layout_.slot_count, slot, layout_.slot_count);
  const std::lock_guard lock(places_mutex_);
  return wire::part_number(file_, places_[static_cast<size_t>(slot)].second);
}

std::string SlotServers::address(int64_t slot) const {
  STRIA_CHECK(0 <= slot && slot < layout_.slot_count, slot, layout_.slot_count);
  const std::lock_guard lock(places_mutex_);
  return places_[static_cast<size_t>(slot)].address;
}

Result<bool> SlotServers::look_again(std::chrono::milliseconds patience) {
  STRIA_ASSIGN_OR_RETURN(auto now, ask_where(*store_, file_, patience));
  const std::lock_guard lock(places_mutex_);
  const auto same = [](const wire::ServerPlace& one, const wire::ServerPlace& other) {
    return one.address == other.address && one.second == other.second;
  };
  // A server that is gone has no address any more.
  const bool complete = now.size() == places_.size() &&
                        std::none_of(now.begin(), now.end(), [](const auto& place) { return place.address.empty(); });
  if (!complete || std::equal(now.begin(), now.end(), places_.begin(), same)) {
    return false;
  }
  places_ = std::move(now);
  return true;
}

Status SlotServers::follow(const std::function<Status()>& attempt) {
  const auto deadline = Clock::now() + server_patience();
  auto pause = kPauseAtFirst;
  while (true) {
    const Status outcome = attempt();
    if (wire::is_foreign_ticket(outcome) && Clock::now() < deadline) {
      pass_.forget();
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
      continue;
    }
    if (outcome.ok() || !may_have_moved(outcome)) {
      return outcome;
    }
    const bool on_its_way = outcome.code() == ErrorCode::kNotFound;
    const Result<bool> has_moved = look_again(on_its_way ? std::chrono::milliseconds(0) : kShortPatience);
    if (!has_moved.ok() || (!*has_moved && (!on_its_way || Clock::now() > deadline))) {
      return on_its_way ? Status(ErrorCode::kIo, outcome.message(), outcome.reason()) : outcome;
    }
    if (!*has_moved) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, kLongestPause);
    }
  }
}

Result<Store::Borrowed> SlotServers::borrow(int64_t slot) const {
  return Store::borrow(store_, address(slot));
}

Call SlotServers::call_to(Store::Borrowed& link, wire::Kind kind, std::vector<std::byte> body) {
  Call call;
  call.link = link.link();
  call.kind = kind;
  call.body = std::move(body);
  call.before_sending = [this, server = link.link()](std::vector<std::byte>& bytes) -> Status {
    STRIA_RETURN_IF_ERROR(recognise(*server));
    return pass_.stamp(bytes);
  };
  return call;
}

// A directory that was emptied, or is another server's, knows nothing of the file: it would answer
// with zeros.
Status SlotServers::recognise(const ServerLink& server) {
  const std::lock_guard lock(known_mutex_);
  const auto known = known_.try_emplace(server.server(), server.server_identity()).first;
  return known->second == server.server_identity()
             ? Status()
             : Status(ErrorCode::kIo, "server " + server.server() + " is gone: another directory answers at its address");
}

Result<std::vector<std::vector<std::byte>>> SlotServers::ask_all(
    wire::Kind kind, const std::function<std::vector<std::byte>(int64_t slot)>& body) {
  std::vector<std::vector<std::byte>> replies;
  const auto ask = [&]() -> Status {
    std::vector<Store::Borrowed> links;
    std::vector<Call> calls;
    for (int64_t slot = 0; slot < layout_.slot_count; ++slot) {
      STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, borrow(slot));
      links.push_back(std::move(link));
      calls.push_back(call_to(links.back(), kind, body(slot)));
    }
    STRIA_RETURN_IF_ERROR(run_calls(calls));
    replies.clear();
    for (Call& call : calls) {
      replies.push_back(std::move(call.reply));
    }
    return {};
  };
  STRIA_RETURN_IF_ERROR(follow(ask));
  return replies;
}

Result<int64_t> SlotServers::file_bytes() {
  const auto body = [this](int64_t slot) { return wire::encode(wire::LocalFile{part(slot), {}, 0}); };
  STRIA_ASSIGN_OR_RETURN(const auto replies, ask_all(wire::Kind::kExtent, body));
  int64_t bytes = 0;
  for (size_t slot = 0; slot < replies.size(); ++slot) {
    STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(replies[slot]));
    bytes = std::max(bytes, layout_.file_bytes(static_cast<int64_t>(slot), extent.local_bytes));
  }
  return bytes;
}

}  // namespace stria::storage
