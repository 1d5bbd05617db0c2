// What a store's manager keeps permanently of files: names, owners, the place of each file's bytes.
// Servers (roster.hpp) and the last replies (replies.hpp) are in the same database.
//
// Problem: this must survive a kill at any moment, and a power loss after Unsynced::sync().
// Owner, group and mode of files and directories are kept and enforced here.
// Method: SQLite with a write-ahead log. Changes are transactions, ordered and atomic. They are
// written at once but synced only when asked for, as those of a directory are. A file's number is
// never used again, even when a power loss undoes the latest files: it begins with the number of
// the manager's start, which is durable, and no less than the seconds since 1970, so that names
// from a backup don't meet parts of later files. Bytes of files never pass here.
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
#include "server/manager/unsynced.hpp"
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
  Unsynced& unsynced() { return unsynced_; }
  /// Space for changes that free some, when the disk is full.
  Reserve& reserve() { return reserve_; }

  // Each of these is kPermissionDenied when the caller may not do it.

  /// kNotFound when nothing has that name.
  Result<NamedFile> find(const Caller& caller, std::string_view path);
  /// Makes a file, whose name nothing has, and the directories above it.
  Result<NamedFile> create(const Caller& caller, const wire::NewDirectory& what, const Placement& placement);
  /// A name for a file that has its number already, and its bytes; for files that lost their names.
  Status create_as(const Caller& caller, const wire::NewDirectory& what, const Placement& placement, uint64_t file);
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
  /// Files without a name that were still open when the manager ended.
  Result<std::vector<uint64_t>> nameless();

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
    int64_t number = 0;  ///< 0: the next one
  };
  static Result<std::unique_ptr<Names>> open_with(const std::string& path, const Reserve& reserve);
  Status prepare();
  Status prepare_secret();
  /// With `permissions`, those of a new file, makes the directories that are missing on the way.
  Result<Entry> walk(const Caller& caller, std::string_view path, std::optional<uint32_t> permissions = {});
  /// Makes what the entry is to name.
  Status make(const Caller& caller, Entry& entry, const Make& what);
  Status lose_name(const Entry& entry);
  Result<bool> is_empty(int64_t directory);

  std::unique_ptr<Database> database_;
  Unsynced unsynced_{*database_};
  Reserve reserve_;
  wire::StoreSecret secret_{};
  int64_t next_file_ = 0;
};

}  // namespace stria::server
