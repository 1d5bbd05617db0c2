// Keys by which clients and servers know each other: the cluster's, and those of its users.
//
// Method: each side sends a random nonce, and proves with HMAC-SHA-512/256 over its role and the
// greeting, with both nonces and who the client says it is, that it has the key (libsodium's
// crypto_auth). The key never travels; a proof is good for one connection. A user's key is the HMAC
// of user, groups and end under the cluster's key: whoever has the cluster's key makes users' keys,
// and servers check them without a list. What follows is encrypted where both sides want it
// (encryption.hpp). Otherwise it is checked for damage, not for forgery: the network between the
// machines must be trusted.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "stria/status.hpp"
#include "wire/trust/greeting.hpp"

namespace stria::wire {

class Key {
 public:
  /// Reads a key file that nobody but its owner may read: one of user_key_text(), or any 16 bytes
  /// and more, which are the cluster's key. kPermissionDenied or kInvalidArgument otherwise.
  static Result<std::shared_ptr<const Key>> load(const std::string& path);
  /// Returns the key of the file that STRIA_KEY_FILE names; null when it names none.
  static Result<std::shared_ptr<const Key>> from_environment();
  /// Makes the cluster's key.
  explicit Key(std::span<const std::byte> secret);

  bool is_users() const { return claim_.kind == ClaimKind::kUserKey; }
  /// Returns who a client with this key says it is: the key's user, or that of this process.
  Claim claim() const;
  /// Returns the key by which the claim is proven. \pre this is the cluster's key
  Key for_claim(const Claim& claim) const;
  /// Returns what the file of a user's key holds. \pre this is a user's key
  std::string user_key_text() const;

  Proof server_proof(const Hello& hello, const Challenge& challenge) const { return prove('s', hello, challenge); }
  Proof client_proof(const Hello& hello, const Challenge& challenge) const { return prove('c', hello, challenge); }
  /// Returns the part of this key and of the greeting in the key of one direction. Never sent.
  Proof direction_secret(bool to_server, const Hello& hello, const Challenge& challenge) const {
    return prove(to_server ? 'S' : 'C', hello, challenge);
  }

 private:
  Key() = default;
  static Result<std::shared_ptr<const Key>> parse_users(const std::string& text);
  Proof prove(char role, const Hello& hello, const Challenge& challenge) const;

  std::array<unsigned char, 32> key_{};
  Claim claim_;  // the claim of a user's key
};

/// Compares in a time that doesn't depend on where they differ.
bool same_proof(const Proof& a, const Proof& b);

/// Fills with random bytes that nobody can guess.
void randomise(std::span<std::byte> bytes);

}  // namespace stria::wire
