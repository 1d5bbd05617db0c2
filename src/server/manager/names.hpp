// What a store's manager keeps permanently: names, the place of each file's bytes, servers, and
// what is still to be removed.
//
// Problem: this must survive a kill at any moment, and a power loss after sync().
// Owner, group and mode of files and directories are kept and enforced here.
// Method: SQLite with a write-ahead log. Changes are transactions, ordered and atomic. They are
// written at once but synced only by sync(), as those of a directory are. A file's number is never
// used again, even when a power loss undoes the latest files: it begins with the number of the
// manager's start, which is durable, and no less than the seconds since 1970, so that names from a
// backup don't meet parts of later files. Bytes of files never pass here.
// Cost: 10 to 50 µs per change; a look-up for each component of a path. For one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/manager/database.hpp"
#include "server/manager/permissions.hpp"
#include "server/manager/reserve.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

struct NamedFile {
  uint64_t file = 0;
  bool is_directory = false;
  int64_t created_ns = 0;
  wire::Ownership owner = {};
  int64_t stripe_bytes = 0;
  std::vector<int64_t> servers = {};  ///< by slot
};

struct Placement {
  int64_t stripe_bytes = 0;
  std::vector<int64_t> servers;
};

class Names {
 public:
  static Result<std::unique_ptr<Names>> open(const std::string& path);
  Names(std::unique_ptr<Database> database, Reserve reserve) : database_(std::move(database)), reserve_(std::move(reserve)) {}

  Database& database() { return *database_; }
  /// Space for changes that free some, when the disk is full.
  Reserve& reserve() { return reserve_; }

  // Each of these is kPermissionDenied when the caller may not do it.

  /// kNotFound when nothing has that name.
  Result<NamedFile> find(const Caller& caller, std::string_view path);
  /// Makes a file, whose name nothing has, and the directories above it.
  Result<NamedFile> create(const Caller& caller, const wire::NewDirectory& what, const Placement& placement);
  Status make_directory(const Caller& caller, const wire::NewDirectory& what);
  /// Gives the file another name. A file that had this name loses it and is returned.
  Result<std::optional<uint64_t>> rename(const Caller& caller, const wire::Rename& names);
  /// Removes the name of a file, which is returned, or removes an empty directory.
  Result<std::optional<uint64_t>> remove(const Caller& caller, std::string_view path);
  Result<wire::Listed> list(const Caller& caller, const wire::List& request);
  Status set_ownership(const Caller& caller, const wire::SetOwnership& change);

  /// To whom a file belongs, with or without a name.
  Result<wire::Ownership> owner_of(uint64_t file);
  /// What seals tickets: made with the store, known to its servers only.
  const wire::StoreSecret& secret() const { return secret_; }
  /// Everything so far survives a power loss.
  Status sync();

  /// Files without a name that were still open when the manager ended.
  Result<std::vector<uint64_t>> nameless();
  /// Notes that a file without a name can go, because no session has it open any more. Each server
  /// learns by to_remove() that its bytes of the file can be removed.
  Status bury(uint64_t file);
  Result<std::vector<uint64_t>> to_remove(int64_t server);
  Status removed(int64_t server, const std::vector<uint64_t>& files);

  struct Server {
    int64_t index = 0;
    std::string address;
    bool retired = false;
  };
  /// Another server that had the address has none from now on. kInvalidArgument for one that was
  /// retired.
  Result<int64_t> register_server(const wire::Identity& identity, const std::string& address);
  Result<std::vector<Server>> servers();
  /// How many files have a part on the server, with a name or without.
  Result<uint64_t> count_parts(int64_t server);
  /// The server is none of the store's any more, and nothing is left for it to remove. It keeps its
  /// number. Durable.
  Status retire(int64_t server);

  /// The reply to the last change that a session asked for, so that the same request is not done
  /// twice.
  Status remember(const wire::Identity& session, uint64_t request, std::span<const std::byte> reply);
  Result<std::optional<std::vector<std::byte>>> recall(const wire::Identity& session, uint64_t request);
  Status forget_old_sessions();

 private:
  struct Entry {
    int64_t parent = 0;
    std::string name = {};
    int64_t inode = 0;  ///< 0: there is none
    bool is_directory = false;
    wire::Ownership owner = {};
    wire::Ownership above = {};  ///< to whom the parent belongs
  };
  /// What a new inode is made of.
  struct Make {
    bool is_directory = false;
    uint32_t permissions = 0;
    Placement placement;
  };
  static Result<std::unique_ptr<Names>> open_with(const std::string& path, const Reserve& reserve);
  Status prepare();
  Status prepare_secret();
  /// With `permissions`, those of a new file, makes the directories that are missing on the way.
  Result<Entry> walk(const Caller& caller, std::string_view path, std::optional<uint32_t> permissions = {});
  /// Makes what the entry is to name.
  Status make(const Caller& caller, Entry& entry, const Make& what);
  Status take_address(int64_t server, const std::string& address);
  Status lose_name(const Entry& entry);
  Result<bool> is_empty(int64_t directory);
  Result<bool> is_retired(int64_t server);

  std::unique_ptr<Database> database_;
  Reserve reserve_;
  wire::StoreSecret secret_{};
  int64_t next_file_ = 0;
  bool dirty_ = true;
};

}  // namespace stria::server
