// Encryption of a connection after its greeting.
//
// Problem: on a network that others can read, or write to, data must neither be read nor changed.
// Method: the greeting exchanges a fresh X25519 key of each side, and its proofs cover them. The
// keys of the two directions come from the secret that both sides then share, from the key that
// proves the claim, and from the whole greeting. So a cluster's key that is stolen later opens no
// connection that was recorded. The bytes of each direction are cut into records, each sealed by
// ChaCha20-Poly1305 with its number as nonce: a record that was changed, left out, repeated or
// moved is not opened (libsodium).
// Cost: 20 bytes per record of at most 64 KiB, and one pass over the bytes on each side.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "stria/status.hpp"
#include "wire/trust/greeting.hpp"
#include "wire/trust/key.hpp"

namespace stria::wire {

inline constexpr size_t kMaxRecordBytes = size_t{64} << 10;
/// A record's bytes have their number before them, and the tag that seals them.
inline constexpr size_t kRecordHeadBytes = 4 + 16;

using RecordKey = std::array<unsigned char, 32>;

/// One for each direction.
struct RecordKeys {
  RecordKey to_server{};
  RecordKey to_client{};
};

/// One side's part of an exchange of keys. Its secret is forgotten with it.
class KeyExchange {
 public:
  KeyExchange();
  KeyExchange(const KeyExchange&) = delete;
  KeyExchange& operator=(const KeyExchange&) = delete;
  ~KeyExchange();

  const ExchangeKey& mine() const { return mine_; }
  /// Returns the keys that both sides get; kPermissionDenied when the other side's is none. `key`
  /// proves the claim of `hello`.
  Result<RecordKeys> keys_with(const ExchangeKey& other, const Key& key, const Hello& hello, const Challenge& challenge) const;

 private:
  std::array<unsigned char, 32> secret_{};
  ExchangeKey mine_{};
};

/// Seals what is sent in one direction.
class RecordSealer {
 public:
  explicit RecordSealer(const RecordKey& key) : key_(key) {}
  /// Makes a record of the bytes that lie behind its head; writes the head, and seals the bytes
  /// where they are. \pre kRecordHeadBytes < record.size() <= kRecordHeadBytes + kMaxRecordBytes
  void seal(std::span<std::byte> record);

 private:
  RecordKey key_;
  uint64_t next_ = 0;
};

/// Holds what has come from one direction, opened record by record.
class RecordOpener {
 public:
  explicit RecordOpener(const RecordKey& key) : key_(key), buffer_(kRecordHeadBytes + kMaxRecordBytes) {}

  /// Returns the bytes that are here, opened. None: more have to come. kCorrupted where a record is
  /// not as it was sealed; the connection can't be used any more.
  Result<std::span<const std::byte>> opened();
  /// Counts so many of them as taken.
  void take(size_t bytes) { begin_ += bytes; }
  /// Returns where the next bytes of the connection go. \pre opened() has none
  std::span<std::byte> room();
  /// Counts so many bytes that have come there.
  void received(size_t bytes) { end_ += bytes; }

 private:
  size_t record_bytes() const;

  RecordKey key_;
  uint64_t next_ = 0;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0;   // what was taken lies before
  size_t opened_ = 0;  // from begin_ to here: opened bytes, if any
  size_t end_ = 0;     // up to here: sealed bytes
};

}  // namespace stria::wire
