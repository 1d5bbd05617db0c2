// Describes what a store's manager keeps permanently of files: names, owners, the place of each
// file's bytes. Servers (roster.hpp) and the last replies (replies.hpp) are in the same database.
//
// Problem: this must survive a kill at any moment, and a power loss after Unsynced::sync().
// Owner, group and mode of files and directories are kept and enforced here. A file may have
// several names, and a symbolic link is followed wherever it stands on the way to a name.
// Method: SQLite with a write-ahead log. Changes are transactions, ordered and atomic. They are
// written at once but synced only when asked for, as those of a directory are. A file's number is
// never used again, even when a power loss undoes the latest files: it begins with the number of
// the manager's start, which is durable, and no less than the seconds since 1970, so that names
// from a backup don't meet parts of later files. Bytes of files never pass here.
// Cost: 10 to 50 µs per change; a look-up for each component of a path, but for one only where the
// path before asked for a name in the same directory. For one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/manager/database/database.hpp"
#include "server/manager/database/unsynced.hpp"
#include "server/manager/names/permissions.hpp"
#include "server/manager/names/reserve.hpp"
#include "stria/status.hpp"
#include "wire/messages.hpp"
#include "wire/tree.hpp"

namespace stria::server {

struct NamedFile {
  uint64_t file = 0;
  bool is_directory = false;
  bool is_link = false;  ///< symbolic, and not followed
  int64_t created_ns = 0;
  wire::Ownership owner = {};
  int64_t stripe_bytes = 0;
  std::vector<int64_t> servers = {};  ///< by slot
};

struct Placement {
  int64_t stripe_bytes = 0;
  std::vector<int64_t> servers;
};

/// Says what the store's servers know, and nobody else.
struct Seals {
  wire::StoreSecret store{};    ///< made with the store
  uint64_t epoch = 0;           ///< how often another manager has taken over (wire/standby.hpp)
  wire::StoreSecret tickets{};  ///< seals tickets in that epoch
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

  /// kNotFound when nothing has that name. `follow`: a symbolic link, for what it points to.
  Result<NamedFile> find(const Caller& caller, std::string_view path, bool follow = true);
  /// Makes a file, whose name nothing has, and the directories above it.
  Result<NamedFile> create(const Caller& caller, const wire::NewDirectory& what, const Placement& placement);
  /// Creates a name for a file that has its number already, and its bytes; for files that lost
  /// their names.
  Status create_as(const Caller& caller, const wire::NewDirectory& what, const Placement& placement, uint64_t file);
  Status make_directory(const Caller& caller, const wire::NewDirectory& what);
  /// Gives the file another name. A file that had this name loses it, and is returned if it was the
  /// last one.
  Result<std::optional<uint64_t>> rename(const Caller& caller, const wire::Rename& names);
  /// Removes an empty directory, or the name of a file, which is returned if it was the last one.
  Result<std::optional<uint64_t>> remove(const Caller& caller, std::string_view path);
  Result<wire::Listed> list(const Caller& caller, const wire::List& request);
  Status set_ownership(const Caller& caller, const wire::SetOwnership& change);

  /// Returns to whom a file belongs, with or without a name.
  Result<wire::Ownership> owner_of(uint64_t file);
  const Seals& seals() const { return seals_; }
  /// Files without a name that were still open when the manager ended.
  Result<std::vector<uint64_t>> nameless();

  // The functions of tree.hpp call the following.

  /// Says what a path leads to.
  struct Entry {
    int64_t parent = 0;
    std::string name = {};
    int64_t inode = 0;  ///< 0: there is none
    bool is_directory = false;
    bool is_link = false;
    int64_t names = 0;
    wire::Ownership owner = {};
    wire::Ownership above = {};  ///< to whom the parent belongs
    std::string path = {};       ///< without links on the way
  };
  struct Walk {
    bool follow = true;  ///< a symbolic link that the path itself names
    /// A new file gets these: directories that are missing on the way are made.
    std::optional<uint32_t> permissions = {};
  };
  Result<Entry> walk(const Caller& caller, std::string_view path, const Walk& how);
  /// Says what a new inode is made of.
  struct Make {
    wire::NameKind kind = wire::NameKind::kFile;
    uint32_t permissions = 0;
    Placement placement = {};
    int64_t number = 0;  ///< 0: the next one
  };
  /// Makes what the entry is to name.
  Status make(const Caller& caller, Entry& entry, const Make& what);
  /// Owner, group and mode of what is there.
  Status set_ownership_of(const Caller& caller, const Entry& entry, const wire::Ownership& wanted);

 private:
  static Result<std::unique_ptr<Names>> open_with(const std::string& path, const Reserve& reserve);
  Status prepare();
  Status prepare_secret();
  /// The entry is, or becomes, a directory that the caller may enter.
  Status enter(const Caller& caller, Entry& entry, const Walk& how);
  Result<Entry> look_in(const Entry& directory, const std::string& name);
  /// Follows the components of a link's target, before those that are left.
  Status follow(const Entry& link, std::deque<std::string>& rest);
  /// True when it was the last name of a file.
  Result<bool> lose_name(const Entry& entry);

  /// The directories on the way to a name, from the store's root on.
  struct Way {
    /// Returns those on the way to what the path names, where it is this one; otherwise none.
    std::vector<Entry> to(std::string_view name) const;

    std::string path = {};  // with a slash at its end, as it was asked for
    std::vector<Entry> directories = {};
  };

  std::unique_ptr<Database> database_;
  Way way_;  // the way as it is now: nothing that is in it has changed since
  Unsynced unsynced_{*database_};
  Reserve reserve_;
  Seals seals_;
  int64_t next_file_ = 0;
};

// The functions of tree.hpp call the following, which look at no rights.

/// Names in the directory have changed.
Status touch_directory(Database& database, int64_t directory);
/// What is known of it has changed, and not its content.
Status touch(Database& database, int64_t inode);
/// Versions before links must not open the database any more.
Status keep_for_links(Database& database);

}  // namespace stria::server
