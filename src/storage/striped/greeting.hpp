// The client's side of a greeting: whom it says that it is and how it proves that, and whether it
// believes that the server is one of the store's.
//
// By the key, each side proves that it has it. By MUNGE, the server proves which user runs it: root
// and the client's own user are believed, and the one that STRIA_SERVER_USER names. Where that is
// set, a server that proves nothing is refused. Otherwise it is believed.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stria/status.hpp"
#include "wire/messages.hpp"
#include "wire/trust/encryption.hpp"
#include "wire/trust/key.hpp"

namespace stria::storage {

/// Says whether this side wants connections to be encrypted.
enum class Encryption {
  kNever,
  kAsServerWants,
  kAlways,  ///< except through Unix sockets, whose bytes don't leave the machine
};

/// Returns what STRIA_ENCRYPT asks for: 1 always, 0 never, as the server wants when it is not set.
Result<Encryption> encryption_from_environment();

/// Serves one connection.
class Greeting {
 public:
  struct Side {
    wire::Identity session{};
    const wire::Key* key = nullptr;
    Encryption encryption = Encryption::kAsServerWants;
    bool over_unix = false;
  };
  explicit Greeting(const Side& side);

  const wire::Hello& hello() const { return hello_; }
  /// Checks what the server has proven; returns the body of the client's own proof.
  Result<std::vector<std::byte>> answer(const wire::Challenge& challenge) const;
  /// Returns the keys of what follows the greeting; none where it isn't encrypted.
  Result<std::optional<wire::RecordKeys>> record_keys(const wire::Challenge& challenge) const;

 private:
  Status check(const wire::Challenge& challenge) const;
  const wire::Key* key_of_proofs(const wire::Challenge& challenge) const;

  Side side_;
  wire::Hello hello_;
  std::optional<wire::KeyExchange> exchange_;
};

}  // namespace stria::storage
