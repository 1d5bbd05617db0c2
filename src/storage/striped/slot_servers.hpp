// The servers that have the slots of an open file of a store, and the requests to them.
#pragma once

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

/// Thread-safe.
class SlotServers {
 public:
  /// `handle`: the manager's, of the open file.
  SlotServers(std::shared_ptr<Store> store, const wire::Opened& opened, uint64_t handle);
  SlotServers(const SlotServers&) = delete;
  SlotServers& operator=(const SlotServers&) = delete;

  /// The file's number in the store.
  uint64_t file() const { return file_; }
  const wire::Layout& layout() const { return layout_; }

  /// Returns another handle on the file, by the store.
  Result<wire::Opened> open_again(uint8_t rights, uint64_t& handle) const;
  Result<Store::Borrowed> borrow(int64_t slot) const;
  /// A request to one of these servers, with the file's ticket.
  Call call_to(Store::Borrowed& link, wire::Kind kind, std::vector<std::byte> body);
  /// Sends the same kind of request to every slot, with the body that `body` gives for it. Returns
  /// the replies by slot.
  Result<std::vector<std::vector<std::byte>>> ask_all(wire::Kind kind,
                                                      const std::function<std::vector<std::byte>(int64_t slot)>& body);
  /// The size of the file, of which each server knows its part.
  Result<int64_t> file_bytes();

 private:
  /// An error when another server answers than at first.
  Status recognise(const ServerLink& server);

  std::shared_ptr<Store> store_;
  uint64_t file_;
  Pass pass_;
  wire::Layout layout_;
  std::vector<std::string> addresses_;  ///< by slot
  std::mutex known_mutex_;
  std::map<std::string, wire::Identity> known_;  ///< who answered first, by address
};

}  // namespace stria::storage
