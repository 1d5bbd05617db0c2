// What commit_async() needs until it returns: the commit in the background, into which the session
// stages what it writes, or the reason why there is none.
//
// Problem: when the thread gets the commit, nothing may fail for want of memory any more.
// Method: the commit is made before the ranks meet; after they have met, they share it. Nodes that
// can't reach each other commit in the call, with a warning.
// Cost: the agreements of BackgroundCommit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "access/failure/memory_reserve.hpp"
#include "file/background/background.hpp"
#include "file/session/session.hpp"
#include "file/write/target/new_file.hpp"
#include "storage/driver.hpp"

namespace stria::file {

class BackgroundStage {
 public:
  /// What must outlive this.
  struct Means {
    Environment& environment;             ///< gets warnings, and the hints fit for staging
    const std::string& path;              ///< as the program gave it
    storage::Capabilities& capabilities;  ///< become those of what is staged
    NewFile& file;
    access::MemoryReserve& reserve;
  };
  explicit BackgroundStage(const Means& means) : means_(means) {}

  /// Makes the commit. Local.
  Status prepare(BackgroundCommit::About about);
  /// The commit ends in the call, for a reason that a warning tells. Local.
  void stay_in_call(const std::string& why);
  /// Has all that is written from now on staged, if a commit is prepared and the nodes reach each
  /// other. Collective: yes; the outcome is the same everywhere.
  Status begin();
  /// Gives the commit, with the file's handles, to the thread. Null where it has ended in the call,
  /// or there was nothing to do. Never fails. Local.
  std::shared_ptr<const BackgroundCommit> hand_over();

 private:
  void plan_for_staging();

  Means means_;
  Background::Queue one_;  // the commit; empty: it ends in the call
};

}  // namespace stria::file
