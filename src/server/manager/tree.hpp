// Describes what a mounted store asks of names: all that is known of one name or of a directory's,
// times, links, and attributes that users give.
//
// Times that a user sets are kept here, while only a file's servers know when it was written. So a
// time of modification is kept with what the servers told when it was set, and holds until they
// tell of a later write. A directory's times are the manager's own. Nobody notes when a file was
// read.
// Cost: a look-up of a directory's names is one pass over its entries. For one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/manager/fleet/fleet.hpp"
#include "server/manager/names/names.hpp"
#include "wire/frame.hpp"
#include "wire/tree.hpp"

namespace stria::server {

class Tree {
 public:
  /// `seal` makes the ticket to ask for a file's size. Both references outlive this.
  Tree(Names& names, const Fleet& fleet, std::function<wire::Ticket(uint64_t)> seal)
      : names_(names), fleet_(fleet), seal_(std::move(seal)) {}

  static bool knows(wire::Kind kind) { return kind >= wire::Kind::kLook && kind <= wire::Kind::kGetAttribute; }
  /// True for what must not be done twice.
  static bool changes(wire::Kind kind) { return kind >= wire::Kind::kChange && kind <= wire::Kind::kSetAttribute; }
  /// Returns the body of the reply; kUnsupported for other kinds.
  Result<std::vector<std::byte>> answer(const Caller& caller, wire::Kind kind, std::span<const std::byte> body);
  /// Returns `opened`, which was just made at the path, with what it and its directory mean now.
  Result<wire::Made> made(const Caller& caller, std::string_view path, wire::Opened opened);

 private:
  Result<wire::Looked> look(const Caller& caller, const wire::Look& request);
  Result<wire::LookedAll> look_all(const Caller& caller, const wire::List& request);
  Result<wire::Path> resolve(const Caller& caller, const wire::Path& request);
  Status change(const Caller& caller, const wire::Change& request);
  Status change_times(const wire::Change& request, int64_t inode);
  Status make_link(const Caller& caller, const wire::NewLink& request);
  Status link_name(const Caller& caller, const wire::NewLink& request);
  Status set_attribute(const Caller& caller, const wire::SetAttribute& request);
  Status put_attribute(const wire::SetAttribute& request, int64_t inode);
  Result<wire::UserAttributes> get_attribute(const Caller& caller, const wire::GetAttribute& request);

  /// Returns what is there; kNotFound when nothing is.
  Result<Names::Entry> find(const Caller& caller, const wire::Look& what);
  Result<wire::NameState> state_of(int64_t inode);
  /// Returns the columns of kStateColumns, from the first one on.
  wire::NameState state_in(const Query& row) const;
  Result<std::vector<wire::ServerPlace>> places_of(std::span<const int64_t> servers) const;

  Names& names_;
  const Fleet& fleet_;
  std::function<wire::Ticket(uint64_t)> seal_;
};

}  // namespace stria::server
