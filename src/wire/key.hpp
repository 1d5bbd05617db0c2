// The cluster's key. A client that has it may use the servers, and recognises them by it.
//
// Method: each side sends a random nonce, and proves with HMAC-SHA-512/256 over both nonces and its
// role that it has the key (libsodium's crypto_auth). The key never travels; a proof is good for
// one connection. What follows is checked for damage, not for forgery: the network between the
// machines must be trusted.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "stria/status.hpp"
#include "wire/messages.hpp"

namespace stria::wire {

class Key {
 public:
  /// Reads a key file of at least 16 bytes that nobody but its owner may read. kPermissionDenied
  /// otherwise.
  static Result<std::shared_ptr<const Key>> load(const std::string& path);
  /// The key of the file that STRIA_KEY_FILE names; null when it names none.
  static Result<std::shared_ptr<const Key>> from_environment();

  Proof server_proof(const Hello& hello, const Challenge& challenge) const { return prove('s', hello, challenge); }
  Proof client_proof(const Hello& hello, const Challenge& challenge) const { return prove('c', hello, challenge); }

  explicit Key(std::span<const std::byte> secret);

 private:
  Proof prove(char role, const Hello& hello, const Challenge& challenge) const;
  std::array<unsigned char, 32> key_{};
};

/// Compares in a time that doesn't depend on where they differ.
bool same_proof(const Proof& a, const Proof& b);

/// Fills with random bytes that nobody can guess.
void randomise(std::span<std::byte> bytes);

}  // namespace stria::wire
