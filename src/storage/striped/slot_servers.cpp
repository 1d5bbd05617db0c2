#include "storage/striped/slot_servers.hpp"

#include <algorithm>
#include <utility>

namespace stria::storage {

SlotServers::SlotServers(std::shared_ptr<Store> store, const wire::Opened& opened, uint64_t handle)
    : store_(std::move(store)),
      file_(opened.file),
      pass_(store_, handle, {opened.ticket, opened.ticket_ms}),
      layout_{opened.stripe_bytes, static_cast<int64_t>(opened.slots.size())} {
  for (const wire::ServerPlace& slot : opened.slots) {
    addresses_.push_back(slot.address);
  }
}

Result<wire::Opened> SlotServers::open_again(uint8_t rights, uint64_t& handle) const {
  STRIA_ASSIGN_OR_RETURN(const auto again, store_->open_again(file_, rights));
  handle = again.handle;
  wire::Opened same{file_, layout_.stripe_bytes, false, {}, again.good.ticket, again.good.ticket_ms};
  for (const std::string& address : addresses_) {
    same.slots.push_back({0, address});
  }
  return same;
}

Result<Store::Borrowed> SlotServers::borrow(int64_t slot) const {
  return Store::borrow(store_, addresses_[static_cast<size_t>(slot)]);
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
  std::vector<Store::Borrowed> links;
  std::vector<Call> calls;
  for (int64_t slot = 0; slot < layout_.slot_count; ++slot) {
    STRIA_ASSIGN_OR_RETURN(Store::Borrowed link, borrow(slot));
    links.push_back(std::move(link));
    calls.push_back(call_to(links.back(), kind, body(slot)));
  }
  STRIA_RETURN_IF_ERROR(run_calls(calls));
  std::vector<std::vector<std::byte>> replies;
  for (Call& call : calls) {
    replies.push_back(std::move(call.reply));
  }
  return replies;
}

Result<int64_t> SlotServers::file_bytes() {
  const auto body = wire::encode(wire::LocalFile{file_, {}, 0});
  STRIA_ASSIGN_OR_RETURN(const auto replies, ask_all(wire::Kind::kExtent, [&](int64_t) { return body; }));
  int64_t bytes = 0;
  for (size_t slot = 0; slot < replies.size(); ++slot) {
    STRIA_ASSIGN_OR_RETURN(const auto extent, wire::decode<wire::Extent>(replies[slot]));
    bytes = std::max(bytes, layout_.file_bytes(static_cast<int64_t>(slot), extent.local_bytes));
  }
  return bytes;
}

}  // namespace stria::storage
