#include "wire/trust/encryption.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "wire/form/codec.hpp"

namespace stria::wire {

namespace {

constexpr size_t kLengthBytes = 4;
constexpr size_t kTagBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
static_assert(kRecordHeadBytes == kLengthBytes + kTagBytes);
static_assert(crypto_aead_chacha20poly1305_ietf_KEYBYTES == sizeof(RecordKey));

using Number = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

/// Returns the number of a record, as its nonce: never the same twice under one key.
Number nonce_of(uint64_t record) {
  Number nonce{};
  for (size_t i = 0; i < sizeof record; ++i) {
    nonce[i] = static_cast<unsigned char>(record >> (8 * i));
  }
  return nonce;
}

unsigned char* raw(std::byte* bytes) {
  return reinterpret_cast<unsigned char*>(bytes);
}

RecordKey record_key(const Proof& proven, std::span<const unsigned char> shared) {
  RecordKey key;
  crypto_generichash(key.data(), key.size(), shared.data(), shared.size(),
                     reinterpret_cast<const unsigned char*>(proven.data()), proven.size());
  return key;
}

}  // namespace

KeyExchange::KeyExchange() {
  static_assert(crypto_box_SECRETKEYBYTES == sizeof secret_ && crypto_box_PUBLICKEYBYTES == sizeof mine_);
  randomise(std::as_writable_bytes(std::span(secret_)));
  crypto_scalarmult_base(raw(mine_.data()), secret_.data());
}

KeyExchange::~KeyExchange() {
  sodium_memzero(secret_.data(), secret_.size());
}

Result<RecordKeys> KeyExchange::keys_with(const ExchangeKey& other, const Key& key, const Hello& hello,
                                          const Challenge& challenge) const {
  std::array<unsigned char, crypto_scalarmult_BYTES> shared;
  if (crypto_scalarmult(shared.data(), secret_.data(), reinterpret_cast<const unsigned char*>(other.data())) != 0) {
    return Status(ErrorCode::kPermissionDenied, "the other side's key for encryption is none");
  }
  const RecordKeys keys{record_key(key.direction_secret(true, hello, challenge), shared),
                        record_key(key.direction_secret(false, hello, challenge), shared)};
  sodium_memzero(shared.data(), shared.size());
  return keys;
}

void RecordSealer::seal(std::span<std::byte> record) {
  STRIA_CHECK(kRecordHeadBytes < record.size() && record.size() <= kRecordHeadBytes + kMaxRecordBytes, record.size());
  const size_t bytes = record.size() - kRecordHeadBytes;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    record[i] = static_cast<std::byte>(bytes >> (8 * i));
  }
  unsigned char* const head = raw(record.data());
  unsigned char* const data = head + kRecordHeadBytes;
  const Number nonce = nonce_of(next_++);
  crypto_aead_chacha20poly1305_ietf_encrypt_detached(data, head + kLengthBytes, nullptr, data, bytes, head, kLengthBytes,
                                                     nullptr, nonce.data(), key_.data());
}

/// Returns the bytes of the record with its head; 0 when even its length is not yet known.
size_t RecordOpener::record_bytes() const {
  const std::span<const std::byte> whole(buffer_);
  Reader reader(whole.subspan(begin_, end_ - begin_));
  const auto bytes = reader.fixed<uint32_t>();
  return reader.failed() ? 0 : kRecordHeadBytes + bytes;
}

Result<std::span<const std::byte>> RecordOpener::opened() {
  if (begin_ == opened_) {
    const size_t bytes = record_bytes();
    if (bytes > buffer_.size() || bytes == kRecordHeadBytes) {
      return Status(ErrorCode::kCorrupted, "a sealed record changed on its way");
    }
    if (bytes == 0 || end_ - begin_ < bytes) {
      return std::span<const std::byte>();
    }
    unsigned char* const head = raw(buffer_.data()) + begin_;
    unsigned char* const data = head + kRecordHeadBytes;
    const Number nonce = nonce_of(next_++);
    if (crypto_aead_chacha20poly1305_ietf_decrypt_detached(data, nullptr, data, bytes - kRecordHeadBytes, head + kLengthBytes,
                                                           head, kLengthBytes, nonce.data(), key_.data()) != 0) {
      return Status(ErrorCode::kCorrupted, "a sealed record changed on its way");
    }
    opened_ = begin_ + bytes;
    begin_ += kRecordHeadBytes;
  }
  return std::span<const std::byte>(buffer_).subspan(begin_, opened_ - begin_);
}

// A stream of the longest records fills the buffer with one after another, and nothing is moved.
std::span<std::byte> RecordOpener::room() {
  STRIA_ASSERT(begin_ == opened_, begin_, opened_);
  const size_t here = end_ - begin_;
  const size_t bytes = record_bytes();
  if (here == 0 || bytes == 0 || begin_ + bytes > buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, here);
    begin_ = 0;
    end_ = here;
  }
  opened_ = begin_;
  const size_t until = bytes == 0 ? buffer_.size() : begin_ + bytes;
  return std::span(buffer_).subspan(end_, until - end_);
}

}  // namespace stria::wire
