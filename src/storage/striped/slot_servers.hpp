// The servers that have the slots of an open file of a store, and the requests to them.
//
// A part may move to another server while the file is open (`stria server drain`). The old one then
// answers that it isn't there, and the manager knows where it is; no message says so before. After
// a standby has taken over as the manager, servers know tickets of the manager before no more.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/striped/call.hpp"
#include "storage/striped/pass.hpp"
#include "storage/striped/store.hpp"
#include "stria/status.hpp"
#include "wire/layout.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

/// This is thread-safe.
class SlotServers {
 public:
  /// `handle`: the manager's, of the open file.
  SlotServers(std::shared_ptr<Store> store, const wire::Opened& opened, uint64_t handle);
  SlotServers(const SlotServers&) = delete;
  SlotServers& operator=(const SlotServers&) = delete;

  /// Returns the file's number in the store.
  uint64_t file() const { return file_; }
  const wire::Layout& layout() const { return layout_; }

  /// Returns another handle on the file, by the store.
  Result<wire::Opened> open_again(uint8_t rights, uint64_t& handle) const;
  Result<Store::Borrowed> borrow(int64_t slot) const;
  /// Returns the number by which the slot's server is asked for its part, and its address.
  uint64_t part(int64_t slot) const;
  std::string address(int64_t slot) const;
  /// Returns what attempt() comes to, which asks these servers. Where a part has moved to another
  /// server meanwhile it is made again, there; while one is on its way, until it has come.
  Status follow(const std::function<Status()>& attempt);
  /// Returns a request to one of these servers, with the file's ticket.
  Call call_to(Store::Borrowed& link, wire::Kind kind, std::vector<std::byte> body);
  /// Sends the same kind of request to every slot, with the body that `body` gives for it. Returns
  /// the replies by slot.
  Result<std::vector<std::vector<std::byte>>> ask_all(wire::Kind kind,
                                                      const std::function<std::vector<std::byte>(int64_t slot)>& body);
  /// Returns the size of the file, of which each server knows its part.
  Result<int64_t> file_bytes();

 private:
  /// Returns an error when another server answers than at first.
  Status recognise(const ServerLink& server);
  /// Asks the manager where the parts are; true when that has changed.
  Result<bool> look_again(std::chrono::milliseconds patience);

  std::shared_ptr<Store> store_;
  uint64_t file_;
  Pass pass_;
  wire::Layout layout_;
  mutable std::mutex places_mutex_;
  std::vector<wire::ServerPlace> places_;  ///< by slot
  std::mutex known_mutex_;
  std::map<std::string, wire::Identity> known_;  ///< who answered first, by address
};

}  // namespace stria::storage
