// Describes what commit_async() needs until it returns: the commit in the background, into which
// the session stages what it writes.
//
// Problem: when the thread gets the commit, nothing may fail for want of memory any more.
// Method: the commit is made before the ranks meet; after they have met, they share it. Nodes that
// can't reach each other commit in the call.
// Cost: the agreements of BackgroundCommit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "comm/comm.hpp"
#include "file/background/background.hpp"
#include "file/session/open_file.hpp"
#include "file/write/target/new_file.hpp"
#include "stria/status.hpp"

namespace stria::file {

class BackgroundStage {
 public:
  /// Makes the commit, which stages at most `limit_bytes` on a node; -1: as many as suit it. Local.
  Status prepare(BackgroundCommit::About about, Comm& comm, int64_t limit_bytes);
  /// The commit ends in the call, for a reason that a warning tells. Local.
  void stay_in_call(OpenFile& file, const std::string& why);
  /// Has all that is written from now on staged, where the commit is prepared and the nodes reach
  /// each other; not where the file `updates` what it has. The file gets the hints and the
  /// capabilities of what is staged. Collective: yes; the same outcome everywhere.
  Status begin(OpenFile& file, NewFile& target, bool updates);
  /// Gives the commit, with the file's handles, to the thread. Null where it has ended in the call,
  /// or there was nothing to do. Never fails. Local.
  std::shared_ptr<const BackgroundCommit> hand_over(const OpenFile& file, NewFile& target);

 private:
  Background::Queue one_;  // the commit; empty: it ends in the call
};

}  // namespace stria::file
