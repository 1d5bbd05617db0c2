// The servers of a store, and what each is still to remove, in the manager's database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/manager/database/database.hpp"
#include "server/manager/database/unsynced.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

class Roster {
 public:
  /// Both outlive this.
  Roster(Database& database, Unsynced& unsynced) : database_(database), unsynced_(unsynced) {}

  struct Server {
    int64_t index = 0;
    std::string address;
    bool retired = false;
    bool closed = false;  ///< to new files
    bool left = false;    ///< it has signed off, and not come back
    wire::Identity identity{};
  };
  /// Another server that had the address has none from now on. kInvalidArgument for one that was
  /// retired.
  Result<int64_t> register_server(const wire::Identity& identity, const std::string& address);
  Result<std::vector<Server>> servers();
  /// Returns how many files have a part on the server, with a name or without.
  Result<uint64_t> count_parts(int64_t server);
  /// The server is none of the store's any more, and nothing is left for it to remove. It keeps its
  /// number. Durable.
  Status retire(int64_t server);

  /// Tells whether the server is to take new files. Durable.
  Status set_new_files(int64_t server, bool taken);
  /// Tells whether the server has signed off. Durable, so that a manager that starts knows it.
  Status set_left(int64_t server, bool left);

  /// Notes that a file without a name can go, because no session has it open any more. Each server
  /// learns by to_remove() that its bytes of the file can be removed.
  Status bury(uint64_t file);
  Result<std::vector<uint64_t>> to_remove(int64_t server);
  Status removed(int64_t server, const std::vector<uint64_t>& files);

 private:
  /// Notes something of the server, or forgets it. Durable.
  Status set_mark(std::string_view what, int64_t server, bool holds);
  Status take_address(int64_t server, const std::string& address);
  Result<bool> is_retired(int64_t server);

  Database& database_;
  Unsynced& unsynced_;
};

}  // namespace stria::server
