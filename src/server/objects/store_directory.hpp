// The directory in which a server keeps its part of a store. Checks what it is, and that no other
// server uses it.
//
//   stria_store     "stria store 3", the server's identity, its store's; locked while it runs
//   names.sqlite    the manager's, see names.hpp
//   data/xx/…       the objects and their checksums, see docs/formats/store.md
//   parts/…         which objects there are, see part_record.hpp
//   removed/…       which there were, see removal_record.hpp
//   role            who is the store's manager, see role_record.hpp
//   standby.sqlite  a standby's copy of the names
//
// No name in it comes from a client.
#pragma once

#include <optional>
#include <string>

#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

/// Makes the names in the directory survive a power loss.
Status sync_directory(const std::string& path);

/// Says where a server's objects are.
struct ObjectPaths {
  std::string data;     ///< a directory that exists
  std::string parts;    ///< where the record of parts is
  std::string removed;  ///< where the record of removals is
};

class StoreDirectory {
 public:
  /// Makes the store when the directory is empty or missing, or holds nothing but a copy of the
  /// names. kInvalidArgument when it holds
  /// something else, kAlreadyExists when another server uses it.
  static Result<StoreDirectory> open(const std::string& path);
  StoreDirectory(StoreDirectory&& other) noexcept;
  StoreDirectory& operator=(StoreDirectory&&) = delete;
  ~StoreDirectory();

  const wire::Identity& identity() const { return identity_; }
  /// Notes, durably, that the parts in it are of the store of that identity. kInvalidArgument when
  /// they are of another: numbers of files are alike in all stores.
  Status belongs_to(const wire::Identity& store);
  /// kInvalidArgument when its store has its names elsewhere, or has lost them.
  Status may_keep_names() const;
  std::string names_path() const { return path_ + "/names.sqlite"; }
  std::string standby_path() const { return path_ + "/standby.sqlite"; }
  std::string role_path() const { return path_ + "/role"; }
  std::string data_path() const { return path_ + "/data"; }
  ObjectPaths object_paths() const { return {data_path(), path_ + "/parts", path_ + "/removed"}; }

 private:
  explicit StoreDirectory(std::string path) : path_(std::move(path)) {}
  Status take();
  Status make_identity();
  Status read_store();
  Status keep_from_others() const;

  std::string path_;
  wire::Identity identity_{};
  std::optional<wire::Identity> store_;  // none: no manager has told yet
  int descriptor_ = -1;
};

}  // namespace stria::server
