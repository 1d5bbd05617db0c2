// What commit_async() needs until it returns: the commit in the background, into which the session
// stages what it writes.
//
// Problem: when the thread gets the commit, nothing may fail for want of memory any more.
// Method: the commit is made before the ranks meet; after they have met, they share it. Nodes that
// can't reach each other commit in the call.
// Cost: the agreements of BackgroundCommit.
#pragma once

#include <cstdint>
#include <memory>

#include "access/request/hints.hpp"
#include "comm/comm.hpp"
#include "file/background/background.hpp"
#include "file/write/target/new_file.hpp"
#include "storage/driver.hpp"

namespace stria::file {

class BackgroundStage {
 public:
  /// Makes the commit, which stages at most `limit_bytes` on a node; -1: as many as suit it. Local.
  Status prepare(BackgroundCommit::About about, Comm& comm, int64_t limit_bytes);
  bool is_prepared() const { return !one_.empty(); }
  /// The commit ends in the call. Local.
  void give_up() noexcept { one_.clear(); }
  /// The ranks share the commit. \pre is_prepared() Collective: yes; the same outcome everywhere.
  Status share(Comm& comm);
  /// Why the nodes can't reach each other, or success. \pre is_prepared() Collective: yes; the same
  /// outcome everywhere.
  Status join(Comm& comm);
  /// All that is written to the file from now on is staged. \pre is_prepared() Local.
  void receive(NewFile& file);
  /// Gives the commit, with the file's handles, to the thread. Null where it has ended in the call,
  /// or there was nothing to do. Never fails. Local.
  std::shared_ptr<const BackgroundCommit> hand_over(NewFile& file);

 private:
  Background::Queue one_;  // the commit; empty: it ends in the call
};

/// Makes hints and capabilities those of what is staged.
void plan_for_staging(access::ResolvedHints& hints, storage::Capabilities& capabilities);

}  // namespace stria::file
