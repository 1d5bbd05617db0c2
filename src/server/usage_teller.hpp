// Tells the manager how large this server's parts are, as long as there are quotas
// (objects/growth.hpp).
#pragma once

#include <functional>

#include "server/objects/growth.hpp"
#include "server/objects/store_directory.hpp"
#include "wire/frame.hpp"

namespace stria::server {

/// One thread may use this.
class UsageTeller {
 public:
  using Ask = std::function<Result<std::vector<std::byte>>(wire::Kind kind, std::vector<std::byte> body)>;
  /// `growth` outlives this. `ask`: of the manager.
  UsageTeller(Growth& growth, ObjectPaths paths, const wire::Identity& server, Ask ask)
      : growth_(growth), paths_(std::move(paths)), server_(server), ask_(std::move(ask)) {}

  /// Must be called every second or so. Tells of some parts: in turn of those that have changed,
  /// and of those that were there before.
  Status tell();

 private:
  Status add_older(wire::Usage& usage);
  Status add_changed(wire::Usage& usage) const;

  Growth& growth_;
  ObjectPaths paths_;
  wire::Identity server_;
  Ask ask_;
  int waits_ = 0;            // before it asks again whether there are quotas
  uint64_t told_up_to_ = 0;  // the last of the older parts, in the directory's order
  bool told_all_ = false;
  bool older_next_ = false;
};

}  // namespace stria::server
