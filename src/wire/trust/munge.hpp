// Credentials of MUNGE, by which users of a cluster prove to its machines who they are.
//
// Problem: key files must be made, handed out and kept. Most clusters with a batch system have a
// service already that vouches for users.
// Method: munged, a daemon on each machine, seals a proof together with the user of the process
// that asks for it. The munged of any machine with the same key opens that once, within some
// minutes, and tells whose it is. What is sealed is the proof of a greeting (key.hpp) under a key
// that everybody knows, so a credential is good for one connection. libmunge is loaded when it is
// first used. Its few functions are declared in munge.cpp: a build needs nothing of it.
// Cost: a request to munged on each side, of some 0.1 ms, which blocks the thread.
#pragma once

#include <memory>
#include <string>

#include "stria/status.hpp"
#include "wire/trust/key.hpp"

namespace stria::wire {

/// This is thread-safe.
class Munge {
 public:
  /// Loads libmunge; the daemon is that of STRIA_MUNGE_SOCKET, or where libmunge looks for it when
  /// that is not set. kUnsupported where libmunge isn't installed.
  static Result<std::shared_ptr<const Munge>> load();
  /// Returns the key of proofs that credentials seal.
  static const Key& greeting_key();

  /// Seals the proof as the user of this thread. kUnsupported where munged doesn't answer.
  Result<std::string> seal(const Proof& proof) const;
  /// Returns who sealed the proof: user and group. kPermissionDenied when the credential is forged,
  /// over, was opened before, or seals another proof.
  Result<User> open(const std::string& credential, const Proof& proof) const;
  /// Tells whether munged works here.
  Status check() const;

  struct Functions;
  Munge(const Functions& functions, std::string socket) : functions_(functions), socket_(std::move(socket)) {}

 private:
  const Functions& functions_;
  std::string socket_;  // empty: where libmunge looks
};

}  // namespace stria::wire
