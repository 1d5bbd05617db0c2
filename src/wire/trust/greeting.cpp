#include "wire/trust/greeting.hpp"

namespace stria::wire {

namespace {

void put_exchange(Writer& writer, const std::optional<ExchangeKey>& key) {
  put_flag(writer, key.has_value());
  if (key) {
    writer.bytes(*key);
  }
}

void get_exchange(Reader& reader, std::optional<ExchangeKey>& key) {
  if (get_flag(reader)) {
    get_bytes(reader, key.emplace());
  }
}

}  // namespace

void Hello::put(Writer& writer) const {
  writer.bytes(session);
  writer.bytes(nonce);
  claim.put(writer);
  put_exchange(writer, exchange);
}

void Hello::get(Reader& reader) {
  get_bytes(reader, session);
  get_bytes(reader, nonce);
  claim.get(reader);
  get_exchange(reader, exchange);
}

void Challenge::put(Writer& writer) const {
  writer.fixed(static_cast<uint8_t>(wants));
  writer.bytes(server);
  writer.bytes(nonce);
  put_exchange(writer, exchange);
  if (wants == ProofKind::kMunge) {
    writer.text(credential);
  } else {
    writer.bytes(proof);
  }
}

void Challenge::get(Reader& reader) {
  const auto number = reader.fixed<uint8_t>();
  if (number > static_cast<uint8_t>(ProofKind::kMunge)) {
    reader.fail();
  }
  wants = static_cast<ProofKind>(number);
  get_bytes(reader, server);
  get_bytes(reader, nonce);
  get_exchange(reader, exchange);
  if (wants == ProofKind::kMunge) {
    credential = reader.text(kMaxTextBytes);
  } else {
    get_bytes(reader, proof);
  }
}

void KeyProof::put(Writer& writer) const {
  writer.bytes(proof);
}

void KeyProof::get(Reader& reader) {
  get_bytes(reader, proof);
}

}  // namespace stria::wire
