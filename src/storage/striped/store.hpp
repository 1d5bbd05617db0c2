// A store as one process sees it: the session with its manager, the handles open in it, and idle
// connections to its I/O servers.
//
// A process has one Store for each address of a manager; all files share it. Thread-safe. A request
// borrows connections to I/O servers, so that threads don't wait for each other. There are as many
// connections as were ever in use at once.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/striped/call.hpp"
#include "storage/striped/server_link.hpp"
#include "wire/messages.hpp"
#include "wire/tree.hpp"
#include "wire/upkeep.hpp"

namespace stria::storage {

class Store {
 public:
  /// Returns the store of the manager at `address`: "host:port", or a list with commas between, of
  /// the manager and its standby. Sends nothing yet.
  static Result<std::shared_ptr<Store>> at(const std::string& address);

  /// Returns the user for whom the store is asked.
  uint32_t uid() const;

  /// Asks the manager. An error is the manager's own or names the manager.
  /// `patience`: 0 is that of every request.
  Result<std::vector<std::byte>> ask_manager(wire::Kind kind, std::vector<std::byte> body,
                                             std::chrono::milliseconds patience = {});

  /// Opens a file. When the connection has to be made again, the handle is restored with it.
  Result<wire::Opened> open(wire::Open& request);
  /// Makes a file and opens it, and hears what its name means. kUnsupported by a manager of a
  /// version that doesn't tell.
  Result<wire::Made> make(wire::Open& request);
  /// Opens another handle on an open file, by its number, with rights that the file's mode allows.
  struct Again {
    uint64_t handle = 0;
    wire::Renewed good;
  };
  Result<Again> open_again(uint64_t file, uint8_t rights);
  /// Fetches a new ticket for a handle. 0: with the patience of every request.
  Result<wire::Renewed> renew(uint64_t handle, std::chrono::milliseconds patience);
  /// Returns a number that stands for the store itself, the same whatever address it is reached by.
  Result<uint64_t> number();
  /// Closes a handle. An error when the handle was lost before, and its lock with it.
  Status close(uint64_t handle);
  /// The store gives up handles that lock nothing many at a time from now on: by give_up_closed(),
  /// and before a name is removed or replaced, so that the manager knows which files are still
  /// open.
  void gather_closes();
  Status give_up_closed();
  /// Returns the reason why a handle can't be used any more, or success.
  Status handle_state(uint64_t handle);

  /// A connection to the I/O server at `address`, given back by the destructor.
  class Borrowed {
   public:
    Borrowed(std::shared_ptr<Store> store, std::string address, std::unique_ptr<ServerLink> link)
        : store_(std::move(store)), address_(std::move(address)), link_(std::move(link)) {}
    Borrowed(Borrowed&&) = default;
    Borrowed& operator=(Borrowed&& other) noexcept {
      std::swap(store_, other.store_);
      std::swap(address_, other.address_);
      std::swap(link_, other.link_);
      return *this;
    }
    ~Borrowed();
    ServerLink* link() { return link_.get(); }
    const std::string& address() const { return address_; }

   private:
    std::shared_ptr<Store> store_;
    std::string address_;
    std::unique_ptr<ServerLink> link_;
  };
  static Result<Borrowed> borrow(const std::shared_ptr<Store>& store, const std::string& address);

  Store(std::vector<wire::Address> managers, std::shared_ptr<const wire::Key> key,
        Encryption encryption = Encryption::kAsServerWants);

 private:
  struct OpenHandle {
    wire::Handle handle;
    Status state;
  };
  Status take_up_handles(ServerLink& link, Clock::time_point deadline);
  Result<wire::Renewed> claim_locked(const wire::Handle& handle, std::chrono::milliseconds patience = {});
  Result<std::vector<std::byte>> ask_manager_locked(wire::Kind kind, std::vector<std::byte> body,
                                                    std::chrono::milliseconds patience = {});
  void hold_locked(const wire::Open& request, const wire::Opened& opened);
  Status give_up_closed_locked();
  void give_back(const std::string& address, std::unique_ptr<ServerLink> link);

  std::shared_ptr<const wire::Key> key_;
  Encryption encryption_;
  std::mutex manager_mutex_;  // taken before idle_mutex_
  ServerLink manager_;
  std::map<uint64_t, OpenHandle> handles_;
  uint64_t last_handle_ = 0;
  std::optional<wire::Identity> first_manager_;
  bool gathers_closes_ = false;
  std::vector<wire::Handle> closed_;  // not given up yet
  std::mutex idle_mutex_;
  std::multimap<std::string, std::unique_ptr<ServerLink>> idle_;
};

/// Returns where the parts of a file are now. kUnsupported by a manager of an earlier version.
Result<std::vector<wire::ServerPlace>> ask_where(Store& store, uint64_t file, std::chrono::milliseconds patience = {});

/// True for an error of an I/O server that comes of a part that has moved, or moves: perhaps.
bool may_have_moved(const Status& outcome);

/// Asks the manager which servers take new files; the answer is empty where it is too old to know.
Result<wire::Conditions> ask_conditions(Store& store);

}  // namespace stria::storage
