// How ranks that move their bytes alone tell each other that the operation has failed.
//
// Problem: nobody should go on for a request that is lost, and nobody wait for that news. Method: one interface with two ways
// behind it, a word in the memory of a node (here) and messages between any ranks (message_signal.hpp). Each rank tells once it
// has failed, asks between its batches, and ends with its own outcome.
#pragma once

#include "access/request/request.hpp"
#include "comm/failure_word.hpp"

namespace stria::access {

class AbortSignal {
 public:
  virtual ~AbortSignal() = default;
  /// Tells the others that the operation has failed here.
  virtual void tell() = 0;
  /// Whether somebody has told. Never blocks.
  virtual bool heard() = 0;
  /// Ends this rank's part, and tells of `mine` where it is a failure. Returns `mine`, or kAborted where it is known that only
  /// others have failed.
  virtual Status end(const Status& mine) = 0;
};

/// By a word that the ranks of a node share. Nobody waits: what others meet later is not heard.
class WordSignal final : public AbortSignal {
 public:
  explicit WordSignal(FailureWord word) : word_(word) {}
  void tell() override { word_.tell(); }
  bool heard() override { return word_.heard(); }
  Status end(const Status& mine) override {
    if (!mine.ok()) {
      tell();
    }
    return mine;
  }

 private:
  FailureWord word_;
};

/// kAborted once another rank has failed of which the signal tells; a null one tells nothing. Never blocks.
Status failure_elsewhere(AbortSignal* signal);
inline Status failure_elsewhere(const Context& context) {
  return failure_elsewhere(context.signal);
}
/// Tells by the context's signal, where it has one, that the operation has failed here.
void tell_failure(const Context& context);

}  // namespace stria::access
