// The messages that open a connection: hello and challenge, then a proof, if the server wants one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "wire/form/codec.hpp"
#include "wire/form/fields.hpp"
#include "wire/trust/user.hpp"

namespace stria::wire {

using Nonce = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;
using ExchangeKey = std::array<std::byte, 32>;  ///< X25519: public, and new for each connection

struct Hello {
  static constexpr const char* kName = "hello";
  Identity session{};
  Nonce nonce{};
  Claim claim;  ///< who the client is, and how it will prove that
  /// What follows the greeting may be encrypted, with this key.
  std::optional<ExchangeKey> exchange = {};
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// Says how a client is to prove its claim, and the server proves that it is one of the store's.
enum class ProofKind : uint8_t {
  kNone = 0,
  kKey = 1,
  kMunge = 2,  ///< a credential of MUNGE seals the proof
};

struct Challenge {
  static constexpr const char* kName = "challenge";
  ProofKind wants = ProofKind::kNone;
  Identity server{};
  Nonce nonce{};
  /// What follows the greeting is encrypted, with this key.
  std::optional<ExchangeKey> exchange = {};
  Proof proof{};             ///< proves that the server has the key; not sent when a credential is
  std::string credential{};  ///< kMunge: seals the proof
  void put(Writer& writer) const;
  void get(Reader& reader);
};

struct KeyProof {
  static constexpr const char* kName = "proof";
  Proof proof{};
  void put(Writer& writer) const;
  void get(Reader& reader);
};

/// A client sends this in place of a proof when the server wants kMunge.
struct Credential {
  static constexpr const char* kName = "credential";
  std::string text;
  void put(Writer& writer) const { writer.text(text); }
  void get(Reader& reader) { text = reader.text(kMaxTextBytes); }
};

}  // namespace stria::wire
