// Describes how ranks that move their bytes alone tell each other that the operation has failed.
//
// Problem: no rank should go on with a request that has failed, and none should wait to hear of it.
// Method: one interface with two implementations, a word in the memory of a node (here) and
// messages between any ranks (message_signal.hpp). A rank tells the others when it has failed, asks
// between its batches, and ends with its own outcome.
#pragma once

#include "comm/failure_word.hpp"
#include "stria/status.hpp"

namespace stria::access {

class AbortSignal {
 public:
  virtual ~AbortSignal() = default;
  /// Tells the others that the operation has failed here.
  virtual void tell() = 0;
  /// Tells whether a rank has called tell(). Never blocks.
  virtual bool heard() = 0;
  /// Ends this rank's part, and tells the others when `mine` is a failure. Returns `mine`, or
  /// kAborted where only others are known to have failed.
  virtual Status end(Status mine) = 0;
};

/// Uses a word that the ranks of a node share. No rank waits at the end, so that later failures of
/// others are not heard.
class WordSignal final : public AbortSignal {
 public:
  explicit WordSignal(FailureWord word) : word_(word) {}
  void tell() override { word_.tell(); }
  bool heard() override { return word_.heard(); }
  Status end(Status mine) override {
    if (!mine.ok()) {
      tell();
    }
    return mine;
  }

 private:
  FailureWord word_;
};

/// kAborted once the signal tells that another rank has failed; a null signal never
/// does. Never blocks.
Status failure_elsewhere(AbortSignal* signal);

}  // namespace stria::access
