// A store as one process sees it: the session with its manager, the handles open in it, and idle
// connections to its I/O servers.
//
// One a manager's address and process, shared by all files; thread-safe. Connections to I/O servers
// are borrowed for a request, so that threads don't wait for each other; there are as many as were
// ever in use at once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "storage/striped/call.hpp"
#include "storage/striped/server_link.hpp"
#include "wire/messages.hpp"

namespace stria::storage {

class Store {
 public:
  /// The store that the manager at `address` ("host:port") keeps. Nothing is sent yet.
  static Result<std::shared_ptr<Store>> at(const std::string& address);

  /// Asks the manager; errors are its own, or name it.
  Result<std::vector<std::byte>> ask_manager(wire::Kind kind, std::vector<std::byte> body);

  /// Opens: the handle is taken up again by itself whenever the connection has to be made anew.
  Result<wire::Opened> open(wire::Open& request);
  /// Another handle on a file that is open, by its number.
  Result<uint64_t> open_again(uint64_t file);
  /// A number of the store itself, the same by whatever address it is reached.
  Result<uint64_t> number();
  /// An error when the handle was lost meanwhile, with its lock.
  Status close(uint64_t handle);
  /// The reason why a handle is of no more use, or success.
  Status handle_state(uint64_t handle);

  /// A connection to the I/O server at `address`, given back by the destructor.
  class Borrowed {
   public:
    Borrowed(std::shared_ptr<Store> store, std::string address, std::unique_ptr<ServerLink> link)
        : store_(std::move(store)), address_(std::move(address)), link_(std::move(link)) {}
    Borrowed(Borrowed&&) = default;
    Borrowed& operator=(Borrowed&&) = delete;
    ~Borrowed();
    ServerLink* link() { return link_.get(); }

   private:
    std::shared_ptr<Store> store_;
    std::string address_;
    std::unique_ptr<ServerLink> link_;
  };
  static Result<Borrowed> borrow(const std::shared_ptr<Store>& store, const std::string& address);

  explicit Store(wire::Address manager, std::shared_ptr<const wire::Key> key);

 private:
  struct OpenHandle {
    wire::Handle handle;
    Status state;
  };
  Status take_up_handles(ServerLink& link, Clock::time_point deadline);
  Result<std::vector<std::byte>> ask_manager_locked(wire::Kind kind, std::vector<std::byte> body);
  void give_back(const std::string& address, std::unique_ptr<ServerLink> link);

  std::shared_ptr<const wire::Key> key_;
  std::mutex manager_mutex_;  // before idle_mutex_
  ServerLink manager_;
  std::map<uint64_t, OpenHandle> handles_;
  uint64_t last_handle_ = 0;
  std::mutex idle_mutex_;
  std::multimap<std::string, std::unique_ptr<ServerLink>> idle_;
};

}  // namespace stria::storage
