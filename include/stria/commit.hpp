// A commit that goes on while the program computes.
//
//   stria::Commit commit = file.commit_async();
//   ...                       // compute; the arrays that were put may change
//   commit.wait();            // throws what went wrong
//
// Nothing more need be called: the file is written, synced and gets its name by a thread of the
// library, which never calls MPI. MPI_Finalize() and exit() wait for it. A failure for which nobody
// can wait any more is told at the next create(), append() or open(). See docs/async.md.
#pragma once

#include <memory>

#include "stria/status.hpp"

namespace stria {

namespace file {
class BackgroundCommit;
}

class Commit {
 public:
  /// A commit that is done and has not failed, as of a file that needed none in the background.
  Commit() = default;

  /// True when wait() would not block. Collective: no.
  bool done() const;
  /// Waits until the commit has ended. Throws stria::Error if it has failed; the file of that name
  /// is then as it was before. Collective: no; the outcome is the same on every rank.
  void wait() const;
  /// Returns the outcome; success until done(). Collective: no.
  Status error() const;

 private:
  friend class File;
  explicit Commit(std::shared_ptr<const file::BackgroundCommit> commit) : commit_(std::move(commit)) {}

  std::shared_ptr<const file::BackgroundCommit> commit_;  // null: it ended before it began
};

}  // namespace stria
