// A proof is good for its side, its key and its greeting.
#include "wire/trust/key.hpp"

#include <gtest/gtest.h>

#include <string>

namespace stria::wire {
namespace {

TEST(Key, ProofsDependOnEverything) {
  const std::string secret = "0123456789abcdef";
  const Key key(std::as_bytes(std::span(secret)));
  const Key other(std::as_bytes(std::span(secret).first(15)));
  Hello hello;
  Challenge challenge;
  const Proof proof = key.client_proof(hello, challenge);
  EXPECT_TRUE(same_proof(proof, key.client_proof(hello, challenge)));
  EXPECT_FALSE(same_proof(proof, key.server_proof(hello, challenge))) << "a proof can't be sent back";
  EXPECT_FALSE(same_proof(proof, other.client_proof(hello, challenge)));
  challenge.nonce[31] = std::byte{1};
  EXPECT_FALSE(same_proof(proof, key.client_proof(hello, challenge)));
}

}  // namespace
}  // namespace stria::wire
