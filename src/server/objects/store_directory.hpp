// The directory in which a server keeps its part of a store. Checks what it is, and that no other
// server uses it.
//
//   stria_store     "stria store 3", then the server's identity; locked while the server runs
//   names.sqlite    the manager's, see names.hpp
//   data/xx/…       the objects and their checksums, see docs/formats/store.md
//
// No name in it comes from a client.
#pragma once

#include <string>

#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::server {

/// The names in the directory survive a power loss.
Status sync_directory(const std::string& path);

class StoreDirectory {
 public:
  /// Makes the store when the directory is empty or missing. kInvalidArgument when it holds
  /// something else, kAlreadyExists when another server uses it.
  static Result<StoreDirectory> open(const std::string& path);
  StoreDirectory(StoreDirectory&& other) noexcept;
  StoreDirectory& operator=(StoreDirectory&&) = delete;
  ~StoreDirectory();

  const wire::Identity& identity() const { return identity_; }
  std::string names_path() const { return path_ + "/names.sqlite"; }
  std::string data_path() const { return path_ + "/data"; }

 private:
  explicit StoreDirectory(std::string path) : path_(std::move(path)) {}
  Status take();
  Status make_identity();
  Status keep_from_others() const;

  std::string path_;
  wire::Identity identity_{};
  int descriptor_ = -1;
};

}  // namespace stria::server
