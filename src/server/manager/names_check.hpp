// Describes what a check of the store asks the manager (`stria fsck`), and the changes by which it
// mends: which parts belong to a name, names for files that have none, parts that may go.
//
// Invariant: a file gets its number before any server has a part of it, and keeps its row until
// each server knows that its part is to go. So a part whose file is in no table, now and after its
// server was asked, has no name for ever; what a writer does meanwhile makes none such.
// Cost: a look-up for each file asked for; for paths one pass over all names. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "server/manager/moves.hpp"
#include "server/manager/names/names.hpp"
#include "wire/upkeep.hpp"

namespace stria::server {

/// The directory for files that have lost their names.
inline constexpr const char* kLostAndFound = "/lost+found";

class NamesCheck {
 public:
  /// `names` outlives this. `is_open`: whether a client has the file open.
  /// `moves`: parts that are on their way are nobody's fault.
  NamesCheck(Names& names, const Moves& moves, std::function<bool(uint64_t file)> is_open)
      : names_(names), moves_(moves), is_open_(std::move(is_open)) {}

  // All are kPermissionDenied for who may not do everything.

  Result<wire::NamedListed> list(const Caller& caller, const wire::Named& request);
  Result<wire::PartsKnown> known(const Caller& caller, const wire::PartsOf& request);
  Result<wire::Paths> paths(const Caller& caller, const wire::PartsOf& request);
  /// kAlreadyExists for a file that is known, unless it is to lie on other servers and nobody has
  /// it open.
  Result<wire::Path> adopt(const Caller& caller, const wire::Adopt& request);
  Result<wire::Discarded> discard(const Caller& caller, const wire::PartsOf& request);

 private:
  /// The row of a file; none: there is no such file.
  struct Row {
    bool found = false;
    int64_t stripe_bytes = 0;
    std::vector<int64_t> servers;
  };
  Result<Row> row_of(uint64_t file);
  Result<wire::PartsKnown::Entry> known_part(int64_t server, uint64_t part);
  Status move_parts(const wire::Adopt& request, const Row& row);

  Names& names_;
  const Moves& moves_;
  std::function<bool(uint64_t)> is_open_;
};

}  // namespace stria::server
