// Decides on which server of a store each file of a parity set lies: the parts, the parity, and the
// file that names the parts.
//
// Problem: a new file of a store is striped over all servers, so that one which is lost takes a
// piece of every part, and no parity makes up for that.
// Method: each of these files lies whole on one server: on the one that has fewest files of the
// set, and among equals in turn. The first in turn depends on the file's name, so they spread.
// A part goes to the server on the node of the rank that makes it, as far as that leaves room for
// all: where each node has a server, ranks write to their own disk.
// Invariant: no server has more of them than an even division gives it; with as many servers as
// files, each has one.
// Cost: a message to the manager for the servers, one for each file that is there already, and one
// for each part's own server.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "access/request/hints.hpp"
#include "storage/driver.hpp"

namespace stria::file {

/// Tells whether the files of a parity set at `path` lie on servers of their own.
bool lies_on_single_servers(const access::ResolvedHints& hints, const std::string& path);

class PartServers {
 public:
  /// Finds those that are up in the store of `path`; none where it lies in no store. `first`: the
  /// number of the one whose turn is first; -1: by the name of the file.
  static Result<PartServers> find(const std::string& path, int first = -1);

  int count() const { return static_cast<int>(uses_.size()); }
  /// Counts a file of the set that is there already. One that the manager doesn't know is left out.
  void note(const std::string& path);
  /// No file goes, from now on, to the servers of this one, which can't be had from them, as long
  /// as there are others: the manager may not know yet that they are gone.
  void leave_out_those_of(const std::string& path);
  /// Returns the number of the server for the next file, which is counted; -1: the storage's
  /// choice.
  int next();
  /// Does the same, and `near` if it has less than its share of a set of so many files.
  int next_near(int near, int files);

 private:
  struct Use {
    int server = 0;
    int files = 0;
  };
  void count_file(int server);

  std::vector<Use> uses_;
  size_t turn_ = 0;
};

/// Says how many files of a set share a server, where one that is lost takes more than the parity
/// makes up for; else empty. `files` counts the parts, the parity and the file itself.
std::string warn_of_shared_servers(const std::string& path, int files, int parities, int servers);

/// Returns the number of the server on this machine for part `part` of the file at `path`; -1: none
/// is nearer than others.
Result<int> near_server(const std::string& path, int part);

/// Returns a file on one server; `wanted` as it is where `server` is none.
storage::Striping on_server(int server, storage::Striping wanted = {});

}  // namespace stria::file
