// What is sealed comes out the same, however the network cuts it, and nothing else comes out: no
// record that was changed, left out, repeated, moved, or sent back.
#include "wire/trust/encryption.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace stria::wire {
namespace {

using Bytes = std::vector<std::byte>;

Bytes noise(size_t size, std::mt19937_64& random) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) {
    byte = static_cast<std::byte>(random() >> 20);
  }
  return bytes;
}

Bytes sealed(RecordSealer& sealer, const Bytes& plain) {
  Bytes record(kRecordHeadBytes);
  record.insert(record.end(), plain.begin(), plain.end());
  sealer.seal(record);
  return record;
}

/// Returns all that comes out of the records, which come in portions of at most so many bytes.
Result<Bytes> opened(const RecordKey& key, const Bytes& records, size_t portion) {
  RecordOpener opener(key);
  Bytes plain;
  for (size_t at = 0;;) {
    STRIA_ASSIGN_OR_RETURN(const auto here, opener.opened());
    if (!here.empty()) {
      const size_t now = std::min(here.size(), portion);
      plain.insert(plain.end(), here.begin(), here.begin() + static_cast<ptrdiff_t>(now));
      opener.take(now);
      continue;
    }
    if (at == records.size()) {
      return plain;
    }
    const auto room = opener.room();
    const size_t now = std::min({room.size(), portion, records.size() - at});
    std::copy_n(records.begin() + static_cast<ptrdiff_t>(at), now, room.begin());
    opener.received(now);
    at += now;
  }
}

const RecordKey kKey{1, 2, 3};

TEST(Encryption, RecordsOfAllSizesComeInAllPortions) {
  std::mt19937_64 random(3);
  for (const size_t portion : {size_t{1}, size_t{19}, size_t{1000}, size_t{70001}, size_t{1} << 20}) {
    RecordSealer sealer(kKey);
    Bytes records;
    Bytes expected;
    for (const size_t bytes : {size_t{1}, size_t{48}, kMaxRecordBytes, size_t{7}, kMaxRecordBytes, kMaxRecordBytes,
                               kMaxRecordBytes - 1, size_t{4096}, size_t{2}}) {
      const Bytes plain = noise(bytes, random);
      const Bytes record = sealed(sealer, plain);
      EXPECT_EQ(record.size(), bytes + kRecordHeadBytes);
      records.insert(records.end(), record.begin(), record.end());
      expected.insert(expected.end(), plain.begin(), plain.end());
    }
    const auto plain = opened(kKey, records, portion);
    ASSERT_TRUE(plain.ok()) << plain.status().message();
    EXPECT_TRUE(*plain == expected) << "in portions of " << portion;
  }
}

TEST(Encryption, EveryFlippedBitIsSeen) {
  std::mt19937_64 random(4);
  RecordSealer sealer(kKey);
  const Bytes record = sealed(sealer, noise(40, random));
  for (size_t bit = 0; bit < 8 * record.size(); ++bit) {
    Bytes flipped = record;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto plain = opened(kKey, flipped, 1 << 20);
    const bool waits_for_more = plain.ok() && plain->empty() && bit < 32;  // the length
    EXPECT_TRUE(waits_for_more || plain.status().code() == ErrorCode::kCorrupted) << "bit " << bit;
  }
}

TEST(Encryption, RecordsHaveTheirPlaces) {
  std::mt19937_64 random(5);
  RecordSealer sealer(kKey);
  const Bytes first = sealed(sealer, noise(50, random));
  const Bytes second = sealed(sealer, noise(50, random));
  const auto outcome = [](std::initializer_list<Bytes> order, const RecordKey& key = kKey) {
    Bytes all;
    for (const Bytes& record : order) {
      all.insert(all.end(), record.begin(), record.end());
    }
    return opened(key, all, 33).status().code();
  };
  EXPECT_EQ(outcome({first, second}), ErrorCode::kOk);
  EXPECT_EQ(outcome({second}), ErrorCode::kCorrupted) << "the first was left out";
  EXPECT_EQ(outcome({first, first}), ErrorCode::kCorrupted) << "repeated";
  EXPECT_EQ(outcome({second, first}), ErrorCode::kCorrupted) << "moved";
  EXPECT_EQ(outcome({first, second}, RecordKey{1, 2, 4}), ErrorCode::kCorrupted) << "of the other direction";
}

TEST(Encryption, KeysDependOnTheWholeGreeting) {
  const std::string secret = "0123456789abcdef";
  const Key key(std::as_bytes(std::span(secret)));
  const Key other(std::as_bytes(std::span(secret).first(15)));
  const KeyExchange client;
  const KeyExchange server;
  Hello hello;
  hello.exchange = client.mine();
  Challenge challenge;
  challenge.wants = ProofKind::kKey;
  challenge.exchange = server.mine();
  const RecordKeys keys = client.keys_with(server.mine(), key, hello, challenge).value();
  const auto differ = [&](const RecordKeys& those) {
    return keys.to_server != those.to_server && keys.to_client != those.to_client;
  };
  EXPECT_FALSE(differ(server.keys_with(client.mine(), key, hello, challenge).value()));
  EXPECT_NE(keys.to_server, keys.to_client);
  EXPECT_TRUE(differ(server.keys_with(client.mine(), other, hello, challenge).value())) << "another cluster's key";
  EXPECT_TRUE(differ(KeyExchange().keys_with(client.mine(), key, hello, challenge).value())) << "another's exchange";
  challenge.nonce[0] = std::byte{1};
  EXPECT_TRUE(differ(server.keys_with(client.mine(), key, hello, challenge).value())) << "another greeting";
  EXPECT_EQ(client.keys_with(ExchangeKey{}, key, hello, challenge).status().code(), ErrorCode::kPermissionDenied);
}

// An offer that was taken out of the greeting, so that both sides go on in the clear, is missed.
TEST(Encryption, ProofsCoverTheOffer) {
  const std::string secret = "0123456789abcdef";
  const Key key(std::as_bytes(std::span(secret)));
  Hello hello;
  hello.exchange = ExchangeKey{};
  Challenge challenge;
  const Proof without = key.server_proof(hello, challenge);
  challenge.exchange = ExchangeKey{};
  const Proof with = key.server_proof(hello, challenge);
  EXPECT_FALSE(same_proof(without, with));
  hello.exchange.reset();
  EXPECT_FALSE(same_proof(with, key.server_proof(hello, challenge)));
}

}  // namespace
}  // namespace stria::wire
